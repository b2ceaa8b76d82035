import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { updateOptimistically } from '../optimistic-update.ts'
import { accountQuery } from '../queries.ts'
import { Ago } from '../ui/text/ago.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Switch } from '../ui/actions/switch.tsx'
import { Table } from '../ui/lists/table.tsx'
import { sizeText } from '../ui/text/format.ts'
import {
  administration,
  accountsQuery,
  accountsUsageQuery,
  type AccountEdit,
  type AccountList,
  type ManagedAccount,
} from './api.ts'
import { PLANS } from './plans.ts'
import { accounts as messages } from './messages.ts'

/** The accounts of a page. Plan and role are changed in place. */
export function AccountTable({ people, page }: { people: ManagedAccount[]; page: number }) {
  const queries = useQueryClient()
  const { queryKey } = accountsQuery(page)
  const { data: usage } = useQuery(accountsUsageQuery(page))
  const [problem, setProblem] = useState('')

  function change(id: string, changed: AccountEdit): void {
    const apply = (before: AccountList): AccountList => ({
      ...before,
      accounts: before.accounts.map((each) => (each.id === id ? { ...each, ...changed } : each)),
    })
    setProblem('')
    updateOptimistically(queries, queryKey, apply, () => administration.change(id, changed)).then(
      () => queries.invalidateQueries(accountQuery),
      (error: Error) => setProblem(error.message),
    )
  }

  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <Table caption={messages.title} quiet columns={[...messages.columns]}>
        {people.map((person) => (
          <PersonRow
            key={person.id}
            person={person}
            storedBytes={storedBytes(
              usage?.accounts.find(({ accountId }) => accountId === person.id),
            )}
            onChange={(changed) => change(person.id, changed)}
          />
        ))}
      </Table>
    </>
  )
}

type PersonRowProps = {
  person: ManagedAccount
  storedBytes: number | null
  onChange: (change: AccountEdit) => void
}

/** Bytes of captured requests, report files and shared checks together; null until loaded. */
function storedBytes(usage: { quotas: { used: number }[] } | undefined): number | null {
  return usage ? usage.quotas.reduce((sum, { used }) => sum + used, 0) : null
}

function PersonRow({ person, storedBytes: bytes, onChange }: PersonRowProps) {
  const { data: me } = useQuery(accountQuery)
  const { id, email, name, plan, admin, createdAt } = person
  return (
    <tr>
      <th scope="row">
        {email}
        <small>{id === me?.id ? messages.you(name) : name}</small>
      </th>
      <td>
        <Choice
          label={messages.planOf(email)}
          choices={PLANS}
          value={plan}
          onChange={(to) => onChange({ plan: to })}
        />
      </td>
      <td>
        <Switch
          label={messages.administrator}
          about={email}
          checked={admin}
          onChange={(to) => onChange({ admin: to })}
        />
      </td>
      <td data-label={messages.storage}>{bytes !== null && sizeText(bytes)}</td>
      <td data-label={messages.created}>
        <Muted>
          <Ago at={createdAt} />
        </Muted>
      </td>
      <td>{id !== me?.id && <Remove person={person} />}</td>
    </tr>
  )
}

function Remove({ person: { id, email } }: { person: ManagedAccount }) {
  const queries = useQueryClient()

  async function remove(): Promise<void> {
    await administration.remove(id)
    await queries.invalidateQueries({ queryKey: ['people'] })
  }

  return (
    <ConfirmButton
      label={messages.delete}
      about={email}
      title={messages.deleteTitle(email)}
      onConfirm={remove}
    >
      {messages.deleteEffect}
    </ConfirmButton>
  )
}
