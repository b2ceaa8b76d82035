import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../queries.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { FieldRow, Form, SelectField, TextField } from '../ui/forms/form.tsx'
import { Columns, Card, Muted, Page, Section, Stack } from '../ui/layout/page.tsx'
import { List, ListItem } from '../ui/lists/list.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import {
  invitationsQuery,
  workspaces,
  type Invitation,
  type IssuedInvitation,
} from '../workspaces/api.ts'
import { ROLES, useAccess, useHasRole } from '../workspaces/roles.ts'
import type { Role } from '../api.ts'
import { invitations as messages, roles } from '../workspaces/messages.ts'

/** Invites people by email or link, and shows the invitations that are open. */
export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const isAdmin = useHasRole('admin')
  const workspaceId = account?.workspace.id ?? ''
  return (
    <Page wide title={messages.title}>
      <Columns>
        {' '}
        <Section title={messages.createSection}>
          <NewInvitation workspaceId={workspaceId} />
        </Section>
        {isAdmin && (
          <Section title={messages.openSection}>
            <OpenInvitations workspaceId={workspaceId} />
          </Section>
        )}
      </Columns>
    </Page>
  )
}

function NewInvitation({ workspaceId }: { workspaceId: string }) {
  const queries = useQueryClient()
  const [created, setCreated] = useState<IssuedInvitation | null>(null)
  const isOwner = useHasRole('owner')
  const choices = ROLES.filter((role) => isOwner || role !== 'owner')

  async function invite({ email = '', role = 'member' }: Record<string, string>): Promise<void> {
    setCreated(await workspaces.invite(workspaceId, role as Role, email.trim()))
    await queries.invalidateQueries(invitationsQuery(workspaceId))
  }

  return (
    <Card>
      <Stack>
        <Form
          key={created?.id}
          onSubmit={invite}
          check={wrongEmail}
          submit={messages.submit}
          {...useAccess('admin')}
        >
          <FieldRow>
            <TextField
              name="email"
              label={messages.email}
              hint={messages.emailHint}
              type="email"
              placeholder={messages.emailExample}
              spellCheck={false}
            />
            <SelectField
              name="role"
              label={messages.role}
              defaultValue="member"
              choices={choices.map((value) => ({ value, label: roles.explained[value] }))}
            />
          </FieldRow>
        </Form>
        <div role="status">{created && <Created {...created} />}</div>
      </Stack>
    </Card>
  )
}

function Created({ email, url, isMailed }: IssuedInvitation) {
  const sent = email && (isMailed ? messages.mailed(email) : messages.notMailed(email))
  return (
    <Notice tone="good" title={messages.created}>
      <p>{sent ?? messages.linkOnly}</p>
      <Snippet what={messages.theLink} text={url} />
      <p>{messages.expires}</p>
    </Notice>
  )
}

function OpenInvitations({ workspaceId }: { workspaceId: string }) {
  const { data: all, error } = useQuery({
    ...invitationsQuery(workspaceId),
    enabled: workspaceId !== '',
  })
  if (!all || error)
    return (
      <LoadingOrError there={all} error={error} lines={2}>
        {messages.loading}
      </LoadingOrError>
    )
  if (all.length === 0) return <Muted>{messages.empty}</Muted>
  return (
    <List>
      {all.map((invitation) => (
        <OpenInvitation key={invitation.id} workspaceId={workspaceId} invitation={invitation} />
      ))}
    </List>
  )
}

function OpenInvitation({
  workspaceId,
  invitation: { id, email, role, invitedBy, expiresAt },
}: {
  workspaceId: string
  invitation: Invitation
}) {
  const queries = useQueryClient()
  const target = email ?? messages.byLink
  return (
    <ListItem
      title={target}
      action={
        <ConfirmButton
          label={messages.revoke}
          about={messages.revokeAbout(target)}
          title={messages.revokeTitle}
          onConfirm={async () => {
            await workspaces.revokeInvitation(workspaceId, id)
            await queries.invalidateQueries(invitationsQuery(workspaceId))
          }}
        >
          {messages.revokeEffect}
        </ConfirmButton>
      }
    >
      {messages.details(role, invitedBy.email)} <DateText at={expiresAt} />
    </ListItem>
  )
}

function wrongEmail({ email = '' }: Record<string, string>): Record<string, string> {
  const text = email.trim()
  return text === '' || /^[^\s@]+@[^\s@]+$/.test(text) ? {} : { email: messages.enterEmail }
}
