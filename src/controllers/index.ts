// The door of controllers: the loops that the API itself promises to its clients.
export { type Controllers, type ControllersOptions, startControllers } from './controllers.ts';
export { type Informer, type InformerListener, startInformer } from './informer.ts';
export { systemNamespaces } from './system-namespaces.ts';
export { type ServiceAddress } from './kubernetes-service.ts';
export { type BuiltInGroup } from './api-services.ts';
