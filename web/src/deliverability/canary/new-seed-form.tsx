import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { AccountFields, ConnectionFields } from '../../imap/account-fields.tsx'
import { secretOf, serverOf, wrongAccount } from '../../imap/account.ts'
import { Form, TextField } from '../../ui/forms/form.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { canaries } from './api.ts'
import { canary as messages } from './messages.ts'

/** Adds a mailbox to a canary, after a sign-in. */
export function NewSeedForm({ canaryId }: { canaryId: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add(values: Record<string, string>): Promise<void> {
    const email = (values['email'] ?? '').trim()
    await canaries.addSeed(canaryId, { email, ...serverOf(values), ...secretOf(values) })
    await queries.invalidateQueries({ queryKey: ['canaries'] })
    setAdded(added + 1)
  }

  return (
    <Form key={added} {...access} submit={messages.addSeed} check={findMistakes} onSubmit={add}>
      <TextField name="email" label={messages.email} autoComplete="off" inputMode="email" />
      <AccountFields takesSignIns />
      <ConnectionFields />
    </Form>
  )
}

function findMistakes(values: Record<string, string>): Record<string, string> {
  return {
    ...(!values['email']?.includes('@') && { email: messages.missingEmail }),
    ...wrongAccount(values),
  }
}
