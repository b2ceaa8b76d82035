import { AreaField, Form } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { attacks, type Appeal } from './api.ts'

type AppealFormProps = { ip: string; onSent: (appeal: Appeal) => void }

/** Asks for an address to be taken off the list. */
export function AppealForm({ ip, onSent }: AppealFormProps) {
  return (
    <Form
      onSubmit={async ({ reason = '' }) => onSent(await attacks.appeal({ ip, reason: reason.trim() }))}
      check={missing}
      submit="Ask to be taken off"
    >
      <AreaField
        prose
        name="reason"
        label="What was wrong, and what was done?"
        hint="In plain words; a person may read it. It is kept for ninety days."
        rows={3}
      />
    </Form>
  )
}

/** What came of it. */
export function AppealOutcome({ status, address }: Appeal) {
  if (status === 'granted') {
    return (
      <Notice tone="good" title={`${address} is taken off the list`}>
        <p>The evidence is erased. Whoever uses the list fetches it now and then: give them an hour.</p>
      </Notice>
    )
  }
  return (
    <Notice tone="info" title="The appeal is sent">
      <p>
        A person decides, because it did not come from the listed address itself or is not its first in thirty days.
      </p>
    </Notice>
  )
}

function missing({ reason = '' }: Record<string, string>): Record<string, string> {
  return reason.trim() ? {} : { reason: 'Say what was wrong, in a sentence.' }
}
