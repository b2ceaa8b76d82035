import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { updateOptimistically } from '../optimistic-update.ts'
import { accountQuery } from '../queries.ts'
import { Switch } from '../ui/actions/switch.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { agoCell } from '../ui/lists/ago-cell.tsx'
import type { Column } from '../ui/lists/column.ts'
import { DataTable } from '../ui/lists/data-table.tsx'
import type { Paged } from '../ui/lists/paged.ts'
import type { RowAction } from '../ui/lists/row-action.ts'
import { counted, sizeText } from '../ui/text/format.ts'
import {
  administration,
  accountsQuery,
  accountsUsageQuery,
  type AccountEdit,
  type AccountFilter,
  type AccountList,
  type ManagedAccount,
} from './api.ts'
import { accounts as messages } from './messages.ts'
import { PLANS } from './plans.ts'

/** The columns that the API sorts by. */
export const ACCOUNT_SORTS = ['email', 'plan', 'admin', 'createdAt'] as const

type AccountTableProps = {
  people: ManagedAccount[]
  /** What the page of the list shows. */
  filter: AccountFilter
  paged: Paged<ManagedAccount>
}

/** The accounts of a page. Plan and role are changed in place. */
export function AccountTable({ people, filter, paged }: AccountTableProps) {
  const queries = useQueryClient()
  const { data: me } = useQuery(accountQuery)
  const { data: usage } = useQuery(accountsUsageQuery(filter))
  const [problem, setProblem] = useState('')

  function change({ id }: ManagedAccount, changed: AccountEdit): void {
    const apply = (before: AccountList): AccountList => ({
      ...before,
      accounts: before.accounts.map((each) => (each.id === id ? { ...each, ...changed } : each)),
    })
    const { queryKey } = accountsQuery(filter)
    setProblem('')
    updateOptimistically(queries, queryKey, apply, () => administration.change(id, changed)).then(
      () => queries.invalidateQueries(accountQuery),
      (error: Error) => setProblem(error.message),
    )
  }

  return (
    <>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      <DataTable
        caption={messages.title}
        columns={columnsOf({
          myId: me?.id,
          bytesOf: ({ id }) =>
            storedBytes(usage?.accounts.find(({ accountId }) => accountId === id)),
          change,
        })}
        rows={people}
        rowId={({ id }) => id}
        nameOf={({ email }) => email}
        count={(rows) => counted(rows, 'account')}
        filterLabel={messages.filter}
        actions={useAccountActions(me?.id)}
        csvName="accounts"
        paged={paged}
      />
    </>
  )
}

function useAccountActions(myId: string | undefined): RowAction<ManagedAccount>[] {
  const queries = useQueryClient()
  const onDone = () => queries.invalidateQueries({ queryKey: ['people'] })
  return [
    ...PLANS.map(({ value, name }) => ({
      label: messages.setPlan(name),
      appliesTo: ({ plan }: ManagedAccount) => plan !== value,
      send: ({ id }: ManagedAccount) => administration.change(id, { plan: value }),
      onDone,
    })),
    {
      label: messages.delete,
      kind: 'danger',
      appliesTo: ({ id }) => id !== myId,
      confirm: { title: messages.deleteTitle, text: messages.deleteEffect },
      send: ({ id }) => administration.remove(id),
      onDone,
    },
  ]
}

/** Bytes of captured requests, report files and shared checks together; null until loaded. */
function storedBytes(usage: { quotas: { used: number }[] } | undefined): number | null {
  return usage ? usage.quotas.reduce((sum, { used }) => sum + used, 0) : null
}

type ColumnOptions = {
  myId: string | undefined
  bytesOf: (account: ManagedAccount) => number | null
  change: (account: ManagedAccount, changed: AccountEdit) => void
}

function columnsOf({ myId, bytesOf, change }: ColumnOptions): Column<ManagedAccount>[] {
  const [account, plans, role, storage, created] = messages.columns
  return [
    {
      key: 'email',
      title: account,
      cell: ({ id, email, name }) => (
        <>
          {email}
          <small>{id === myId ? messages.you(name) : name}</small>
        </>
      ),
      csv: ({ email }) => email,
    },
    { key: 'name', title: messages.name, csv: ({ name }) => name },
    {
      key: 'plan',
      title: plans,
      cell: (row) => (
        <Choice
          label={messages.planOf(row.email)}
          choices={PLANS}
          value={row.plan}
          onChange={(plan) => change(row, { plan })}
        />
      ),
      csv: ({ plan }) => plan,
    },
    {
      key: 'admin',
      title: role,
      cell: (row) => (
        <Switch
          label={messages.administrator}
          about={row.email}
          checked={row.admin}
          onChange={(admin) => change(row, { admin })}
        />
      ),
      descendsFirst: true,
      csv: ({ admin }) => admin,
    },
    {
      key: 'storage',
      title: storage,
      labelled: true,
      cell: (row) => {
        const bytes = bytesOf(row)
        return bytes !== null && sizeText(bytes)
      },
    },
    {
      key: 'createdAt',
      title: created,
      labelled: true,
      ...agoCell('createdAt'),
      descendsFirst: true,
    },
  ]
}
