// The console: a page that speaks the Kubernetes API of its own origin, as its user.
import { render } from 'preact';
import { restoreTheme } from './ui/index.ts';
import { App } from './views/index.ts';
import '@xterm/xterm/css/xterm.css';
import 'uplot/dist/uPlot.min.css';
import './style/tokens.css';
import './style/shell.css';
import './style/list.css';
import './style/object.css';

restoreTheme();
render(<App />, document.getElementById('app') as HTMLElement);
