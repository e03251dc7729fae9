import { itemTableWords } from '../../report/words/page.js';
import { openItemTable } from '../actions.js';
import { itemTable, model, names, opened } from '../state.js';
import { FileField } from './controls.js';

/** Takes a second table about the items; a file that is dropped on these steps is one, too. */
export function ItemTableField() {
  if (model.value?.served) return null;
  const found = itemTable.value;
  return (
    <div class="titles">
      <FileField class="file" waits onFile={(file) => void openItemTable(file.name, file)}>
        <span>{found ? 'Another table' : 'Add titles'}</span>
      </FileField>
      <p class="quiet" role="status">
        {found
          ? itemTableWords(found, names.value, opened.value !== undefined)
          : `Drop a second table: ids of the ${names.value.items.many} with titles, and what else you know of them (price, category, author). Its columns are recognised automatically.`}
      </p>
    </div>
  );
}
