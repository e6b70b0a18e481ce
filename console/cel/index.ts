// The door of cel, which is loaded with the first expression: the engine of the server, for expressions and rules on objects of a page.
export { type PlaceResult, type Trial, tryExpression, tryRules } from './try.ts';
