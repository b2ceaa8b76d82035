import { accountOf, wrongAccount, type ImapAccount } from '../../imap/account.ts'
import { AdministratorFields } from '../../imap/administrator-fields.tsx'
import { AccountFields, ConnectionFields } from '../../imap/account-fields.tsx'
import { Form } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'

type ConnectionFormProps = {
  /** What was entered before, when the user returns to this step. */
  initial: ImapAccount | null
  submit: string
  /** Tests the connection. Errors are shown as they are. */
  onSubmit: (connection: ImapAccount) => Promise<void>
}

/**
 * The fields of an IMAP account. Passwords and tokens stay in this window until the migration
 * starts.
 */
export function ConnectionForm({ initial, submit, onSubmit }: ConnectionFormProps) {
  const access = useAccess()
  return (
    <Form
      guarded
      {...access}
      onSubmit={(values) => onSubmit(accountOf(values))}
      check={wrongAccount}
      submit={submit}
    >
      <AccountFields initial={initial} takesTokens />
      <AdministratorFields initial={initial?.administrator} />
      <ConnectionFields initial={initial} />
    </Form>
  )
}
