import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { postCommand } from '../check/curl-commands.ts'
import { hostsQuery, monitoring, type Host } from '../monitoring/api.ts'
import { HostTable } from '../monitoring/host-table.tsx'
import type { HostsSearch } from '../monitoring/search.ts'
import { sentenceOfAll, worstFirst } from '../monitoring/words.ts'
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
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { data: hosts, error } = useQuery(hostsQuery)
  return (
    <Page
      wide
      title="Monitoring"
      lead="Blacklists, certificates and DNS records of your hosts are looked at day and night; you are told once when something has changed."
      aside={<ButtonLink to="/monitoring/lists">Blacklists</ButtonLink>}
    >
      <LoadingOrError there={hosts} error={error} lines={4}>
        Fetching your hosts …
      </LoadingOrError>
      {hosts && hosts.length > 0 && <Hosts hosts={hosts} />}
      <NewHost />
      {hosts?.length === 0 && <NoHost />}
    </Page>
  )
}

function NewHost() {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add({ host = '', label = '' }: Record<string, string>): Promise<void> {
    await monitoring.add({ host: host.trim(), label: label.trim() })
    await queries.invalidateQueries(hostsQuery)
    setAdded(added + 1)
  }

  return (
    <Section title="Watch a host">
      <Card>
        <Form key={added} onSubmit={add} submit="Watch it" check={wrongHost}>
          <FieldRow>
            <TextField
              name="host"
              label="Name or address"
              placeholder="mail.example.com"
              autoComplete="off"
              spellCheck={false}
            />
            <TextField name="label" label="Label" placeholder="outgoing mail" maxLength={100} autoComplete="off" />
          </FieldRow>
        </Form>
      </Card>
    </Section>
  )
}

function wrongHost({ host = '' }: Record<string, string>): Record<string, string> {
  return host.trim() === '' ? { host: 'Type a name or an address.' } : {}
}

function NoHost() {
  const host = useOwnDomain()
  return (
    <Empty icon="watch" title="No host is watched yet">
      <p>
        <Muted>Begin with the server that sends your mail. Or from a program:</Muted>
      </p>
      <Snippet what="the command" text={postCommand('/api/v1/monitoring/hosts', { host })} />
    </Empty>
  )
}

const STATUSES: { value: Host['status'] | ''; name: string }[] = [
  { value: '', name: 'Every state' },
  { value: 'listed', name: 'Listed' },
  { value: 'unknown', name: 'Unknown' },
  { value: 'clean', name: 'Clean' },
]
/** From here on somebody would rather filter than read. */
const MANY = 8
/** Rows at once. */
const SOME = 100

function Hosts({ hosts }: { hosts: Host[] }) {
  const { q = '', status } = useSearch({ from: '/own/monitoring' })
  const navigate = useNavigate({ from: '/monitoring' })
  const [most, setMost] = useState(SOME)
  const { tone, sentence } = sentenceOfAll(hosts)
  const found = worstFirst(hosts)
    .filter((host) => !status || host.status === status)
    .filter(({ host, label }) => `${host} ${label}`.toLowerCase().includes(q.toLowerCase()))
  const go = (search: HostsSearch) => void navigate({ search: (before) => ({ ...before, ...search }), replace: true })
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      {(hosts.length >= MANY || q !== '' || status) && (
        <Row>
          <FilterField label="Filter by name or label" value={q} onFilter={(text) => go({ q: text || undefined })} />
          <Choice
            size="normal"
            label="State"
            choices={STATUSES}
            value={status ?? ''}
            onChange={(value) => go({ status: value || undefined })}
          />
          <Muted>{counted(found.length, 'host')}</Muted>
        </Row>
      )}
      <HostTable hosts={found.slice(0, most)} />
      {found.length > most && (
        <div>
          <Button onClick={() => setMost(most + SOME)}>Show more</Button>
        </div>
      )}
    </>
  )
}
