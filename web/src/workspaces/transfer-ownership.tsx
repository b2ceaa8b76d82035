import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../queries.ts'
import { Form, SelectField } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Stack } from '../ui/layout/page.tsx'
import { Steps } from '../ui/navigation/steps.tsx'
import { membersQuery, workspaces, type Member } from './api.ts'
import { ROLES } from './roles.ts'
import type { Role } from '../api.ts'
import { members as messages, roles } from './messages.ts'

type TransferProps = {
  workspaceId: string
  members: Member[]
  /** Called with the result, which may end the rights to see this form. */
  onDone: (result: string) => void
}

/** Makes another member an owner, and then lets the present one step down. */
export function TransferOwnership({ workspaceId, members, onDone }: TransferProps) {
  const queries = useQueryClient()
  const [newOwner, setNewOwner] = useState<Member | null>(null)
  const own = members.find(({ isYou }) => isYou)
  const others = members.filter(({ isYou }) => !isYou)

  async function makeOwner({ owner }: Record<string, string>): Promise<void> {
    const chosen = others.find(({ accountId }) => accountId === owner)
    if (!chosen) return
    await workspaces.changeRole(workspaceId, chosen.accountId, 'owner')
    await queries.invalidateQueries(membersQuery(workspaceId))
    setNewOwner(chosen)
  }

  async function stepDown({ role = 'owner' }: Record<string, string>): Promise<void> {
    const email = newOwner?.email ?? ''
    const kept = role as Role
    if (own && kept !== 'owner') await workspaces.changeRole(workspaceId, own.accountId, kept)
    onDone(kept === 'owner' ? messages.shared(email) : messages.transferred(email, kept))
    await Promise.all([
      queries.invalidateQueries(membersQuery(workspaceId)),
      queries.invalidateQueries(accountQuery),
    ])
  }

  if (others.length === 0) return <Muted>{messages.nobody}</Muted>
  return (
    <Disclosure summary={messages.transferSummary}>
      <Stack>
        <Muted>{messages.transferLead}</Muted>
        <Steps
          label={messages.transferLabel}
          steps={[
            {
              value: 'choose',
              name: messages.transferSteps.choose,
              summary: newOwner?.email,
            },
            { value: 'keep', name: messages.transferSteps.keep },
          ]}
          now={newOwner ? 'keep' : 'choose'}
          onGo={() => setNewOwner(null)}
        />
        {newOwner ? (
          <Form key="keep" onSubmit={stepDown} submit={messages.stepDown}>
            <p role="status">{messages.isOwner(newOwner.email)}</p>
            <SelectField
              name="role"
              label={messages.keepRole}
              defaultValue="admin"
              choices={ROLES.map((value) => ({
                value,
                label: value === 'owner' ? messages.keepOwner : roles.explained[value],
              }))}
            />
          </Form>
        ) : (
          <Form key="choose" onSubmit={makeOwner} submit={messages.makeOwner}>
            <SelectField
              name="owner"
              label={messages.chooseOwner}
              hint={messages.chooseHint}
              choices={others.map(({ accountId, email }) => ({ value: accountId, label: email }))}
            />
          </Form>
        )}
      </Stack>
    </Disclosure>
  )
}
