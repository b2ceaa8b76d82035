import type { Column } from '../ui/lists/column.ts'
import { labels as messages } from './messages.ts'

type Labelled = { labels: string[] }

/** Labels of a data table: for its filter and its CSV file. `LabelLine` shows them. */
export const LABELS_COLUMN: Column<Labelled> = {
  key: 'labels',
  title: messages.title,
  csv: ({ labels }) => labels.join(' '),
}

/** The labels below a name in a table; nothing where there are none. */
export function LabelLine({ labels }: Labelled) {
  return labels.length === 0 ? null : <small>{labels.join(' · ')}</small>
}
