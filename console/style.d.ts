// Styles are imported for the bundle and have no value.
declare module '*.css';
