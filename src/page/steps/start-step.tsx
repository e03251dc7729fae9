import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { grouped } from '../../text/numbers.js';
import { lookForServed, openBlob, openFile, openSample, openServed, openUrl, unlock } from '../actions.js';
import { Button, FileField, Form, into, set, TABLES } from '../components/controls.js';
import { ABOUT } from '../components/samples.js';
import { SAMPLES } from '../protocol.js';
import { brought, offered, opened } from '../state.js';

/** The first screen. No engine is loaded yet. */
export function Start() {
  const over = useSignal(false);
  useEffect(() => {
    void lookForServed();
  }, []);
  return (
    <div class="start">
      <h1>Drop a table, see the truth about it.</h1>
      <p class="lead">
        A table of pairs: customers and products, readers and books, texts and words. See whether it is
        sparse, what is in it, what to recommend to whom, and how far to trust that.
      </p>
      {brought.value && !opened.value && (
        <p class="note" role="status">
          The settings in this address are restored. An address never contains data: open your table again.
        </p>
      )}
      <Served />
      <FileField
        class={`drop${over.value ? ' over' : ''}`}
        onDragEnter={() => set(over, true)}
        onDragLeave={() => set(over, false)}
        onDrop={() => set(over, false)}
        accept={`${TABLES},.safetensors`}
        onFile={openFile}
      >
        <strong>Drop a file here, or choose one</strong>
        <span>CSV, TSV, JSON lines or Parquet, also gzipped; or a graphex model</span>
        <span class="lock">It stays in this tab: nothing is uploaded.</span>
      </FileField>
      <div class="ways">
        <Paste />
        <FromUrl />
      </div>
      <h2>Or try one of these</h2>
      <ul class="samples">
        {SAMPLES.map((name) => (
          <li key={name}>
            <Button onClick={() => void openSample(name)}>
              <strong>{ABOUT[name].title}</strong>
              <span>{ABOUT[name].about}</span>
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Served() {
  const found = offered.value;
  if (!found) return null;
  if (found === 'locked') return <Locked />;
  const { users, items, names, features } = found;
  return (
    <section class="served" aria-label="The model of this server">
      <div>
        <h2>This server has a model</h2>
        <p class="quiet">
          {grouped(users)} {names.users.many}, {grouped(items)} {names.items.many}
          {features && `, ${grouped(features)} features`}. It stays there: your clicks are sent to it.{' '}
          <a href="docs">For programs</a>
        </p>
      </div>
      <Button class="primary" onClick={() => void openServed(found)}>
        Explore it
      </Button>
    </section>
  );
}

/** Asks for the key of a server. The key stays in the memory of this tab. */
function Locked() {
  const key = useSignal('');
  return (
    <section class="served" aria-label="The model of this server">
      <div>
        <h2>This server has a model and asks for a key</h2>
        <p class="quiet">
          The key is kept in this tab only, until you close or reload it. <a href="docs">For programs</a>
        </p>
      </div>
      <Form class="key" onSubmit={() => void unlock(key.value.trim())}>
        <label for="key">Key</label>
        <input id="key" type="password" autocomplete="off" required value={key.value} onInput={into(key)} />
        <button type="submit" class="primary" disabled={key.value.trim() === ''}>
          Open
        </button>
      </Form>
    </section>
  );
}

/** Pasted text of this many characters is opened without being put into the field. */
const MANY = 5000;

function Paste() {
  const text = useSignal('');
  return (
    <Form onSubmit={() => void openBlob('pasted.txt', new Blob([text.value]))}>
      <label for="paste">Paste rows</label>
      <textarea
        id="paste"
        rows={3}
        required
        spellcheck={false}
        placeholder={'ann,tea\nbob,milk\nbob,tea'}
        value={text.value}
        onPaste={(event) => {
          // A field takes seconds to show a thousand lines.
          const pasted = event.clipboardData?.getData('text') ?? '';
          if (pasted.length < MANY) return;
          event.preventDefault();
          void openBlob('pasted.txt', new Blob([pasted]));
        }}
        onInput={into(text)}
      />
      <button type="submit" class="primary">
        Use these rows
      </button>
    </Form>
  );
}

function FromUrl() {
  const address = useSignal('');
  return (
    <Form onSubmit={() => void openUrl(address.value)}>
      <label for="url">Fetch from an address</label>
      <input
        id="url"
        type="url"
        required
        placeholder="https://example.org/ratings.csv.gz"
        value={address.value}
        onInput={into(address)}
      />
      <p class="quiet">Fetched by this tab. The server must allow other pages to read it.</p>
      <button type="submit" class="primary">
        Fetch
      </button>
    </Form>
  );
}
