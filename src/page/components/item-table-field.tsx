import { itemTableWords, otherItemsWords } from '../../report/words/page.js';
import { openItemTable, removeItemTable } from '../actions.js';
import { itemTable, itemTableFile, model, names, opened } from '../state.js';
import { Button, FileField } from './controls.js';

/** Takes a second table about the items; a file that is dropped on these steps is one, too. */
export function ItemTableField() {
  if (model.value?.served) return null;
  const found = itemTable.value;
  const warning = found && otherItemsWords(found, names.value);
  return (
    <div class="titles">
      {warning && (
        <p class="note warn" role="alert">
          {warning}
        </p>
      )}
      <FileField class="file" waits onFile={(file) => void openItemTable(file.name, file)}>
        <span>{found ? 'Replace this table' : 'Add titles'}</span>
      </FileField>
      {itemTableFile.value && (
        <Button waits onClick={() => void removeItemTable()}>
          Remove this table
        </Button>
      )}
      <p class="quiet" role="status">
        {found
          ? itemTableWords(found, names.value, opened.value !== undefined)
          : `Drop a second table: ids of the ${names.value.items.many} with titles, and what else you know of them (price, category, author). Its columns are recognised automatically.`}
      </p>
    </div>
  );
}
