// The door of controllers: the loops that the API itself promises to its clients.
export { type Controllers, type ControllersOptions, startControllers } from './controllers.ts';
export { systemNamespaces } from './system-namespaces.ts';
export { type ServiceAddress } from './kubernetes-service.ts';
