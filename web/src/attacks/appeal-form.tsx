import { AreaField, Form } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { attacks, type Appeal } from './api.ts'
import { appeals as messages } from './messages.ts'

type AppealFormProps = { ip: string; onSent: (appeal: Appeal) => void }

/** Requests the delisting of an address. */
export function AppealForm({ ip, onSent }: AppealFormProps) {
  return (
    <Form
      onSubmit={async ({ reason = '' }) =>
        onSent(await attacks.appeal({ ip, reason: reason.trim() }))
      }
      check={missing}
      submit={messages.submit}
    >
      <AreaField prose name="reason" label={messages.reason} hint={messages.reasonHint} rows={3} />
    </Form>
  )
}

/** The result of an appeal. */
export function AppealOutcome({ status, address }: Appeal) {
  if (status === 'granted') {
    return (
      <Notice tone="good" title={messages.granted(address)}>
        <p>{messages.grantedText}</p>
      </Notice>
    )
  }
  return (
    <Notice tone="info" title={messages.sent}>
      <p>{messages.sentText}</p>
    </Notice>
  )
}

function missing({ reason = '' }: Record<string, string>): Record<string, string> {
  return reason.trim() ? {} : { reason: messages.missing }
}
