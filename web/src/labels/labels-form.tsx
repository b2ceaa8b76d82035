import { Form } from '../ui/forms/form.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { labelsOf, wrongLabels } from './labels.ts'
import { LabelsField } from './labels-field.tsx'
import { labels as messages } from './messages.ts'

type LabelsFormProps = { labels: string[]; save: (labels: string[]) => Promise<void> }

/** The labels of an object without other settings. */
export function LabelsForm({ labels, save }: LabelsFormProps) {
  const access = useAccess()
  return (
    <Form
      {...access}
      kind="plain"
      onSubmit={({ labels: text }) => save(labelsOf(text))}
      submit={messages.save}
      check={wrongLabels}
    >
      <LabelsField labels={labels} />
    </Form>
  )
}
