import 'virtual:reports.css';
import './paper.css';
import './style.css';
import { render } from 'preact';
import { openFile } from './actions.js';
import { becomeIsolated } from './isolation.js';
import { App } from './page-app.js';
import { complain, followAddress, step } from './state.js';
import { typesetTexts } from './typeset.js';

// A file may be dropped anywhere; it must not replace the page.
window.addEventListener('dragover', (event) => event.preventDefault());
window.addEventListener('drop', (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer?.files ?? [];
  if (file) openFile(file);
});
// What a click or a chart began, and nobody waits for, must not fail silently.
window.addEventListener('unhandledrejection', ({ reason }) => {
  const why = reason instanceof Error ? reason.message : String(reason);
  complain(`This did not work: ${why}. Check the connection, and load the page again.`, step.value);
});
void becomeIsolated();
typesetTexts();
followAddress();
render(<App />, document.getElementById('page')!);
