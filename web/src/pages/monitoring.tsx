import { guessTarget } from '../check/guess-target.ts'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postCommand } from '../check/curl-commands.ts'
import { ImportButton } from '../imports/import-dialog.tsx'
import { HOSTS_KEY, hostsQuery, monitoring, type HostPage } from '../monitoring/api.ts'
import { HOST_SORTS } from '../monitoring/host-columns.tsx'
import { HostDataTable } from '../monitoring/host-data-table.tsx'
import {
  countAll,
  create,
  hosts as messages,
  importing,
  summarizeHosts,
} from '../monitoring/messages.ts'
import { WorkspaceTimelineSection } from '../monitoring/timelines.tsx'
import { useOwnDomain } from '../queries.ts'
import { orderOf } from '../search.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { ServerViews } from '../monitoring/server-views.tsx'

export function Screen() {
  const filter = useHostFilter()
  const { data, error } = useQuery({ ...hostsQuery(filter), placeholderData: keepPreviousData })
  const total = data && countAll(data.counts)
  return (
    <Page
      wide
      title={messages.title}
      lead={messages.lead}
      rail={<NewHost />}
      aside={
        <Row>
          <ButtonLink to="/monitoring/lists">{messages.blocklists}</ButtonLink>
          <AddSeveral />
        </Row>
      }
    >
      <ServerViews />
      <LoadingOrError there={data} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {data && total !== 0 && <Hosts hosts={data} />}
      {data && total !== 0 && <WorkspaceTimelineSection />}
      {total === 0 && <NoHost />}
    </Page>
  )
}

/** The page of hosts that the URL names. */
function useHostFilter() {
  const { page, q, status, sort } = useSearch({ from: '/own/monitoring' })
  return { page, q, status, ...(sort && { sort: orderOf(sort, HOST_SORTS) }) }
}

function AddSeveral() {
  const queries = useQueryClient()
  return (
    <ImportButton
      {...importing}
      kind="hosts"
      onImport={async (entries) => {
        const report = await monitoring.addSeveral(
          entries.map(({ name, label }) => ({ host: name, label })),
        )
        await queries.invalidateQueries({ queryKey: HOSTS_KEY })
        return report
      }}
    />
  )
}

function NewHost() {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ host = '', label = '' }: Record<string, string>): Promise<void> {
    await monitoring.add({
      host: guessTarget(host)?.name ?? host.trim(),
      label: label.trim(),
    })
    await queries.invalidateQueries({ queryKey: HOSTS_KEY })
    setAdded(added + 1)
  }

  return (
    <Section title={create.title}>
      <Card>
        <Form key={added} {...access} onSubmit={add} submit={create.submit} check={wrongHost}>
          <FieldRow>
            <TextField
              name="host"
              label={create.host}
              placeholder="mail.example.com"
              spellCheck={false}
            />
            <TextField
              name="label"
              label={create.label}
              placeholder={create.labelExample}
              maxLength={100}
            />
          </FieldRow>
        </Form>
      </Card>
    </Section>
  )
}

function wrongHost({ host = '' }: Record<string, string>): Record<string, string> {
  return host.trim() === '' ? { host: create.enterHost } : {}
}

function NoHost() {
  const host = useOwnDomain()
  return (
    <Empty icon="watch" title={messages.empty}>
      <p>
        <Muted>{messages.emptyHint}</Muted>
      </p>
      <Snippet what={messages.command} text={postCommand('/api/v1/monitoring/hosts', { host })} />
    </Empty>
  )
}

function Hosts({ hosts: { rows, pagination, counts } }: { hosts: HostPage }) {
  const filter = useHostFilter()
  const navigate = useNavigate({ from: '/monitoring' })
  const { tone, sentence } = summarizeHosts(counts)
  // The reason is the service’s resolver, which is the same for every host.
  const advice = rows.find(({ status, unknownCount }) => status === 'clean' && unknownCount > 0)
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      {advice?.detail && <Notice tone="warn">{advice.detail}</Notice>}
      <HostDataTable
        hosts={rows}
        paged={{
          ...pagination,
          onGo: (to) => void navigate({ search: (before) => ({ ...before, page: to }) }),
          sorts: HOST_SORTS,
          loadPage: async (page) => (await monitoring.hosts({ ...filter, page })).rows,
        }}
        filters={
          (countAll(counts) >= HOSTS_TO_FILTER || filter.status) && (
            <Choice
              size="normal"
              label={messages.status}
              choices={messages.statuses}
              value={filter.status ?? ''}
              onChange={(value) =>
                void navigate({
                  search: (before) => ({ ...before, page: undefined, status: value || undefined }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          )
        }
      />
    </>
  )
}

/** Number of hosts from which they can be filtered by status. */
const HOSTS_TO_FILTER = 8
