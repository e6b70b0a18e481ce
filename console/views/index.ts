// The door of views: the page as a whole.
export { App } from './shell/app.tsx';
