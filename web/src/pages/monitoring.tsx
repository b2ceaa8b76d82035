import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postCommand } from '../check/curl-commands.ts'
import { hostsQuery, monitoring, type Host } from '../monitoring/api.ts'
import { HostTable } from '../monitoring/host-table.tsx'
import type { HostsSearch } from '../monitoring/search.ts'
import { create, hosts as messages, summarizeHosts } from '../monitoring/messages.ts'
import { WorkspaceTimelineSection } from '../monitoring/timelines.tsx'
import { worstFirst } from '../monitoring/sort-hosts.ts'
import { useOwnDomain } from '../queries.ts'
import { Button, ButtonLink } from '../ui/actions/button.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { FilterField } from '../ui/forms/filter-field.tsx'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { data: hosts, error } = useQuery(hostsQuery)
  return (
    <Page
      wide
      title={messages.title}
      lead={messages.lead}
      aside={<ButtonLink to="/monitoring/lists">{messages.blocklists}</ButtonLink>}
    >
      <LoadingOrError there={hosts} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {hosts && hosts.length > 0 && <Hosts hosts={hosts} />}
      {hosts && hosts.length > 0 && <WorkspaceTimelineSection />}
      <NewHost />
      {hosts?.length === 0 && <NoHost />}
    </Page>
  )
}

function NewHost() {
  const access = useAccess()
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ host = '', label = '' }: Record<string, string>): Promise<void> {
    await monitoring.add({ host: host.trim(), label: label.trim() })
    await queries.invalidateQueries(hostsQuery)
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
              autoComplete="off"
              spellCheck={false}
            />
            <TextField
              name="label"
              label={create.label}
              placeholder={create.labelExample}
              maxLength={100}
              autoComplete="off"
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

/** Number of hosts from which the filter is shown. */
const HOSTS_TO_FILTER = 8
/** Rows added by each “Show more”. */
const PAGE_ROWS = 100

function Hosts({ hosts }: { hosts: Host[] }) {
  const { q = '', status } = useSearch({ from: '/own/monitoring' })
  const navigate = useNavigate({ from: '/monitoring' })
  const [rows, setRows] = useState(PAGE_ROWS)
  const { tone, sentence } = summarizeHosts(hosts)
  const found = worstFirst(hosts)
    .filter((host) => !status || host.status === status)
    .filter(({ host, label }) => `${host} ${label}`.toLowerCase().includes(q.toLowerCase()))
  const go = (search: HostsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...search }), replace: true })
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      {(hosts.length >= HOSTS_TO_FILTER || q !== '' || status) && (
        <Row>
          <FilterField
            label={messages.filter}
            value={q}
            onFilter={(text) => go({ q: text || undefined })}
          />
          <Choice
            size="normal"
            label={messages.status}
            choices={messages.statuses}
            value={status ?? ''}
            onChange={(value) => go({ status: value || undefined })}
          />
          <Muted>{messages.count(found.length)}</Muted>
        </Row>
      )}
      <HostTable hosts={found.slice(0, rows)} />
      {found.length > rows && (
        <div>
          <Button onClick={() => setRows(rows + PAGE_ROWS)}>{messages.more}</Button>
        </div>
      )}
    </>
  )
}
