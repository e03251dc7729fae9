import 'virtual:ink.css';
import './paper.css';
import './style.css';
import { render } from 'preact';
import { App } from './app.js';
import { becomeIsolated } from './isolation.js';
import { followAddress } from './state.js';

void becomeIsolated();
followAddress();
render(<App />, document.getElementById('page')!);
