import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { postCommand } from '../check/curl.ts'
import { delistingsQuery, type Delisting, type DelistingFilter } from '../delisting/api.ts'
import { stepsNeedingAction, describeStatus } from '../delisting/status.ts'
import { Ago } from '../ui/text/ago.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { Page, Row, Muted, Stack } from '../ui/layout/page.tsx'
import { Pagination } from '../ui/navigation/pagination.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { ip, status, page } = useSearch({ from: '/own/delisting' })
  const isAddress = ip === undefined || looksLikeAddress(ip)
  const filter = { ip: isAddress ? ip : undefined, status, page }
  const { data, error } = useQuery({ ...delistingsQuery(filter), placeholderData: keepPreviousData })
  const isFiltered = ip !== undefined || status !== undefined
  return (
    <Page
      wide
      title="Delisting"
      lead="Leads an address off the blacklists that list it, a step for each. Nothing is ever paid."
      aside={
        <ButtonLink kind="primary" icon="plus" to="/delisting/new">
          New delisting
        </ButtonLink>
      }
    >
      <LoadingOrError there={data} error={error} lines={4}>
        Fetching your delistings …
      </LoadingOrError>
      {data && data.pagination.total === 0 && !isFiltered && <NoCase />}
      {data && (data.pagination.total > 0 || isFiltered) && (
        <Stack>
          <Filters isAddress={isAddress} total={data.pagination.total} />
          <CaseTable cases={data.processes} />
          <GoOn {...data.pagination} />
        </Stack>
      )}
    </Page>
  )
}

/** Addresses are found whole: the service knows no half of one. */
function looksLikeAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || (/^[\da-f:.]+$/i.test(text) && text.includes('::'))
}

function useFilter() {
  const navigate = useNavigate({ from: '/delisting' })
  return (filter: DelistingFilter) =>
    void navigate({ search: (before) => ({ ...before, page: undefined, ...filter }), replace: true })
}

const STATUSES: { value: Delisting['status'] | 'all'; name: string }[] = [
  { value: 'all', name: 'Every state' },
  { value: 'pending', name: 'Pending' },
  { value: 'in-progress', name: 'In progress' },
  { value: 'completed', name: 'Completed' },
  { value: 'failed', name: 'Failed' },
]

function Filters({ isAddress, total }: { isAddress: boolean; total: number }) {
  const { ip = '', status } = useSearch({ from: '/own/delisting' })
  const go = useFilter()
  return (
    <Row>
      <FilterField label="Filter by address" value={ip} onFilter={(text) => go({ ip: text || undefined })} />
      <Choice
        size="normal"
        label="State"
        choices={STATUSES}
        value={status ?? 'all'}
        onChange={(value) => go({ status: value === 'all' ? undefined : value })}
      />
      <Muted>{isAddress ? counted(total, 'delisting') : 'Type a whole address.'}</Muted>
    </Row>
  )
}

function GoOn({ page, totalPages }: { page: number; totalPages: number }) {
  const go = useFilter()
  return <Pagination page={page} totalPages={totalPages} onGo={(to) => go({ page: to })} />
}

function NoCase() {
  return (
    <Empty icon="leave" title="No address was led off a blacklist yet">
      <p>
        <Muted>
          Begin with “New delisting”: every list is asked, and each that has the address gets a step. Or from a program:
        </Muted>
      </p>
      <Snippet what="the command" text={postCommand('/api/v1/delisting', { ip: '8.8.4.4' })} />
    </Empty>
  )
}

function CaseTable({ cases }: { cases: Delisting[] }) {
  if (cases.length === 0) return <Muted>There is none like that.</Muted>
  return (
    <Table caption="Your delistings" quiet columns={['Address', 'Blacklists', 'State', 'Begun']}>
      {cases.map((it) => (
        <CaseRow key={it.id} it={it} />
      ))}
    </Table>
  )
}

function CaseRow({ it }: { it: Delisting }) {
  const { id, ip, stepsCompleted, totalListings, createdAt, relistedAfter } = it
  const { tone, word } = describeStatus(it)
  return (
    <tr>
      <th scope="row">
        <Link to="/delisting/$id" params={{ id }}>
          {ip}
        </Link>
        {relistedAfter && <small>listed again</small>}
      </th>
      <td>
        <ProgressBar
          label={`Blacklists that let ${ip} go`}
          done={stepsCompleted}
          total={totalListings}
          tone={barTone(it)}
        />
        <small>
          {stepsCompleted} of {counted(totalListings, 'list')} let it go
        </small>
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
      </td>
      <td>
        <Muted>
          <Ago at={createdAt} />
        </Muted>
      </td>
    </tr>
  )
}

function barTone(it: Delisting) {
  if (it.status === 'completed') return 'good'
  return stepsNeedingAction(it).length > 0 ? 'warn' : undefined
}
