// The door of plots, which is loaded when the first one is shown.
export { type Plot, type PlotLine, type PlotOptions, createPlot } from './plot.ts';
