import { AddressLink } from '../../addresses/address-link.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmButton } from '../../ui/actions/confirm.tsx'
import { Empty } from '../../ui/feedback/empty.tsx'
import { LoadingOrError } from '../../ui/feedback/loading.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import type { Column } from '../../ui/lists/column.ts'
import { DataTable } from '../../ui/lists/data-table.tsx'
import type { RowAction } from '../../ui/lists/row-action.ts'
import { PaginationLinks } from '../../ui/navigation/pagination.tsx'
import { Remaining } from '../../ui/text/ago.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { bansQuery, fleet, FLEET_KEY, type FleetBan } from './api.ts'
import { bans as messages, fleet as texts } from './messages.ts'

/** The banned addresses, with an action that unbans them on all servers. */
export function BanTable() {
  const [page, setPage] = useState(1)
  const { data, error } = useQuery(bansQuery(page))
  const actions = useUnban()
  return (
    <Section title={messages.title}>
      <LoadingOrError there={data} error={error} lines={4}>
        {texts.loading}
      </LoadingOrError>
      {data?.bans.length === 0 && (
        <Empty icon="shield" title={messages.empty}>
          <Muted>{messages.emptyText}</Muted>
        </Empty>
      )}
      {data && data.bans.length > 0 && (
        <DataTable
          caption={messages.title}
          columns={COLUMNS}
          rows={data.bans}
          rowId={({ id }) => id}
          nameOf={({ address }) => address}
          count={(rows) => messages.count(rows, data.bans.length, data.pagination.total)}
          filterLabel={messages.filter}
          actions={actions}
          csvName="fleet-list"
        />
      )}
      {data && (
        <PaginationLinks page={page} totalPages={data.pagination.totalPages} onGo={setPage} />
      )}
    </Section>
  )
}

function useUnban(): RowAction<FleetBan>[] {
  const access = useAccess()
  const queries = useQueryClient()
  return [
    {
      ...access,
      label: messages.unban,
      kind: 'quiet',
      confirm: { title: messages.unbanSeveral, text: messages.unbanText },
      send: ({ id }) => fleet.unban(id),
      onDone: () => queries.invalidateQueries({ queryKey: FLEET_KEY }),
    },
  ]
}

function causeOf({ services, servers, reason }: FleetBan): string {
  if (services.length === 0) return messages.byMember(reason)
  const names = servers.map((server) => server || messages.unnamed)
  return messages.reported(services.join(', '), names.join(', '))
}

const titles = messages.columns

const COLUMNS: Column<FleetBan>[] = [
  {
    key: 'address',
    title: titles.address,
    cell: ({ address }) => <AddressLink address={address} />,
    sort: ({ address }) => address,
    csv: ({ address }) => address,
  },
  { key: 'cause', title: titles.cause, cell: causeOf, sort: causeOf, csv: causeOf },
  {
    key: 'ends',
    title: titles.ends,
    labelled: true,
    cell: ({ expiresAt }) => <Remaining at={expiresAt} />,
    sort: ({ expiresAt }) => expiresAt,
    csv: ({ expiresAt }) => expiresAt,
  },
  {
    key: 'bans',
    title: titles.bans,
    labelled: true,
    cell: ({ bans }) => bans,
    sort: ({ bans }) => bans,
    descendsFirst: true,
    csv: ({ bans }) => bans,
  },
  { key: 'action', title: titles.action, cell: (ban) => <Unban ban={ban} /> },
]

function Unban({ ban: { id, address } }: { ban: FleetBan }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function unban(): Promise<void> {
    await fleet.unban(id)
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  return (
    <ConfirmButton
      {...access}
      label={messages.unban}
      about={address}
      title={messages.unbanTitle(address)}
      onConfirm={unban}
    >
      {messages.unbanText}
    </ConfirmButton>
  )
}
