import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postCommand } from '../check/curl-commands.ts'
import { ImportButton } from '../imports/import-dialog.tsx'
import { hostsQuery, monitoring, type Host } from '../monitoring/api.ts'
import { HostDataTable } from '../monitoring/host-data-table.tsx'
import { create, hosts as messages, importing, summarizeHosts } from '../monitoring/messages.ts'
import { WorkspaceTimelineSection } from '../monitoring/timelines.tsx'
import { worstFirst } from '../monitoring/sort-hosts.ts'
import { useOwnDomain } from '../queries.ts'
import { ButtonLink } from '../ui/actions/button.tsx'
import { Choice } from '../ui/forms/choice.tsx'
import { Snippet } from '../ui/actions/copy.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
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
      rail={<NewHost />}
      aside={
        <Row>
          <ButtonLink to="/monitoring/lists">{messages.blocklists}</ButtonLink>
          <AddSeveral />
        </Row>
      }
    >
      <LoadingOrError there={hosts} error={error} lines={4} shape="table">
        {messages.loading}
      </LoadingOrError>
      {hosts && hosts.length > 0 && <Hosts hosts={hosts} />}
      {hosts && hosts.length > 0 && <WorkspaceTimelineSection />}
      {hosts?.length === 0 && <NoHost />}
    </Page>
  )
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
        await queries.invalidateQueries(hostsQuery)
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

function Hosts({ hosts }: { hosts: Host[] }) {
  const { status } = useSearch({ from: '/own/monitoring' })
  const navigate = useNavigate({ from: '/monitoring' })
  const { tone, sentence } = summarizeHosts(hosts)
  const found = worstFirst(hosts).filter((host) => !status || host.status === status)
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      <HostDataTable
        hosts={found}
        filters={
          (hosts.length >= HOSTS_TO_FILTER || status) && (
            <Choice
              size="normal"
              label={messages.status}
              choices={messages.statuses}
              value={status ?? ''}
              onChange={(value) =>
                void navigate({
                  search: (before) => ({ ...before, status: value || undefined }),
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
