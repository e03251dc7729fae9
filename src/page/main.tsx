import 'virtual:ink.css';
import './paper.css';
import './style.css';
import { render } from 'preact';
import { becomeIsolated } from './isolation.js';
import { App } from './page-app.js';
import { followAddress } from './state.js';
import { typesetTexts } from './typeset.js';

void becomeIsolated();
typesetTexts();
followAddress();
render(<App />, document.getElementById('page')!);
