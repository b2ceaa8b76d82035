import { TextField } from '../ui/forms/form.tsx'
import { labels as messages } from './messages.ts'

/** The labels of an object, as the field `labels` of a form. */
export function LabelsField({ labels }: { labels: string[] }) {
  return (
    <TextField
      name="labels"
      label={messages.title}
      hint={messages.hint}
      defaultValue={labels.join(', ')}
      maxLength={400}
      spellCheck={false}
    />
  )
}
