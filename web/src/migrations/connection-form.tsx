import { accountOf, wrongAccount, type ImapAccount } from '../imap/account.ts'
import { AccountFields, ConnectionFields } from '../imap/account-fields.tsx'
import { Form } from '../ui/forms/form.tsx'

type ConnectionFormProps = {
  /** What was typed before, when somebody comes back. */
  initial: ImapAccount | null
  submit: string
  /** Tries it; what it throws is shown as it is. */
  onSubmit: (connection: ImapAccount) => Promise<void>
}

/** What it takes to sign in to an IMAP account. Passwords and tokens stay in this window until the migration is started. */
export function ConnectionForm({ initial, submit, onSubmit }: ConnectionFormProps) {
  return (
    <Form onSubmit={(values) => onSubmit(accountOf(values))} check={wrongAccount} submit={submit}>
      <AccountFields initial={initial} takesTokens />
      <ConnectionFields initial={initial} />
    </Form>
  )
}
