import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { accountQuery } from '../queries.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Muted, Page, Section } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { updateOptimistically } from '../optimistic-update.ts'
import { membersQuery, workspaces, type Member } from '../workspaces/api.ts'
import { isAtLeast, ROLES, useAccess, useHasRole } from '../workspaces/roles.ts'
import type { Role } from '../api.ts'
import { TransferOwnership } from '../workspaces/transfer-ownership.tsx'
import { members as messages, roles } from '../workspaces/messages.ts'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const workspaceId = account?.workspace.id ?? ''
  const { data: members, error } = useQuery({
    ...membersQuery(workspaceId),
    enabled: workspaceId !== '',
  })
  const isOwner = useHasRole('owner')
  const [transferred, setTransferred] = useState('')
  return (
    <Page
      wide
      title={messages.title}
      aside={
        <ButtonLink kind="primary" icon="plus" to="/workspace/invitations" {...useAccess('admin')}>
          {messages.invite}
        </ButtonLink>
      }
    >
      <LoadingOrError there={members} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {members && <MemberTable workspaceId={workspaceId} members={members} />}
      <div role="status">{transferred && <Notice tone="good">{transferred}</Notice>}</div>
      {members && isOwner && (
        <Section title={messages.transferSection}>
          <TransferOwnership
            key={transferred}
            workspaceId={workspaceId}
            members={members}
            onDone={setTransferred}
          />
        </Section>
      )}
    </Page>
  )
}

function MemberTable({ workspaceId, members }: { workspaceId: string; members: Member[] }) {
  const queries = useQueryClient()
  const { queryKey } = membersQuery(workspaceId)
  const [problem, setProblem] = useState('')

  function change(accountId: string, role: Role): void {
    setProblem('')
    const apply = (before: Member[]) =>
      before.map((each) => (each.accountId === accountId ? { ...each, role } : each))
    updateOptimistically(queries, queryKey, apply, () =>
      workspaces.changeRole(workspaceId, accountId, role),
    ).then(
      () => queries.invalidateQueries(accountQuery),
      (error: Error) => setProblem(error.message),
    )
  }

  return (
    <div>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Table caption={messages.title} quiet columns={messages.columns}>
        {members.map((member) => (
          <MemberRow
            key={member.accountId}
            member={member}
            workspaceId={workspaceId}
            onChange={(role) => change(member.accountId, role)}
          />
        ))}
      </Table>
    </div>
  )
}

type MemberRowProps = { member: Member; workspaceId: string; onChange: (role: Role) => void }

function MemberRow({ member, workspaceId, onChange }: MemberRowProps) {
  const { email, name, role, joinedAt, isYou } = member
  const { data: account } = useQuery(accountQuery)
  const own = account?.role ?? 'read-only'
  // Admins neither change owners nor make owners; owners give up their role in the guided transfer.
  const canChange = !isYou && isAtLeast(own, 'admin') && isAtLeast(own, role)
  const choices = ROLES.filter((each) => isAtLeast(own, each) || each === role)
  return (
    <tr>
      <th scope="row">
        {email}
        <small>{isYou ? messages.you(name) : name}</small>
      </th>
      <td>
        {canChange ? (
          <Choice
            label={messages.roleOf(email)}
            choices={choices.map((value) => ({ value, name: roles.names[value] }))}
            value={role}
            onChange={onChange}
          />
        ) : (
          roles.names[role]
        )}
      </td>
      <td data-label={messages.joined}>
        <Muted>
          <DateText at={joinedAt} />
        </Muted>
      </td>
      <td>{canChange && <Remove member={member} workspaceId={workspaceId} />}</td>
    </tr>
  )
}

function Remove({ member: { accountId, email }, workspaceId }: Omit<MemberRowProps, 'onChange'>) {
  const queries = useQueryClient()
  return (
    <ConfirmButton
      label={messages.remove}
      about={email}
      title={messages.removeTitle(email)}
      onConfirm={async () => {
        await workspaces.removeMember(workspaceId, accountId)
        await queries.invalidateQueries(membersQuery(workspaceId))
      }}
    >
      {messages.removeEffect}
    </ConfirmButton>
  )
}
