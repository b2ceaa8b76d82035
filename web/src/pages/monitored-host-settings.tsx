import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { hostQuery, listsQuery, monitoring, type HostDetail, type MonitoredList, type ListMode } from '../monitoring/api.ts'
import { ModeTable } from '../monitoring/mode-table.tsx'
import { MODE_NAMES } from '../monitoring/messages.ts'
import { portsOf, wrongPorts } from '../monitoring/ports.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { CheckField, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError, Loading } from '../ui/feedback/loading.tsx'

export function Screen() {
  const { id } = useParams({ from: '/own/monitoring/$id/settings' })
  const { data: host, error } = useQuery(hostQuery(id))
  const name = host?.host ?? 'host'
  return (
    <Page
      wide
      title={`Settings of ${name}`}
      above={
        <BackLink to="/monitoring/$id" params={{ id }}>
          {name}
        </BackLink>
      }
    >
      <LoadingOrError there={host} error={error} lines={6}>
        Fetching the settings …
      </LoadingOrError>
      {host && <Settings host={host} />}
      {host && <Lists host={host} />}
    </Page>
  )
}

function Settings({ host: { id, label, tlsPorts, dnsRecords, host } }: { host: HostDetail }) {
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function save({ label: text = '', tlsPorts: ports = '', dnsRecords: records }: Record<string, string>) {
    const changes = { label: text.trim(), tlsPorts: portsOf(ports), dnsRecords: records === 'on' }
    queries.setQueryData(hostQuery(id).queryKey, await monitoring.change(id, changes))
    await queries.invalidateQueries({ queryKey: ['monitoring', 'hosts'] })
    await navigate({ to: '/monitoring/$id', params: { id } })
  }

  return (
    <Form onSubmit={save} submit="Save the settings" check={({ tlsPorts: ports = '' }) => wrongPorts(ports)}>
      <TextField name="label" label="Label" defaultValue={label} maxLength={100} autoComplete="off" />
      <TextField
        name="tlsPorts"
        label="Ports whose certificate is watched"
        hint="Up to eight, with spaces between. 25, 587, 143, 110, 389 and 5432 are asked by STARTTLS. Empty for none."
        defaultValue={tlsPorts.join(' ')}
        autoComplete="off"
      />
      <CheckField
        name="dnsRecords"
        label="Watch the DNS records"
        hint={`A, AAAA, CNAME, MX, NS, TXT and DMARC of ${host}.`}
        defaultChecked={dnsRecords}
      />
    </Form>
  )
}

function Lists({ host }: { host: HostDetail }) {
  const queries = useQueryClient()
  const { data: lists } = useQuery(listsQuery)
  const [problem, setProblem] = useState('')

  async function choose({ dnsbl }: MonitoredList, mode: ListMode | undefined): Promise<void> {
    const { queryKey } = hostQuery(host.id)
    const { [dnsbl]: _before, ...others } = host.lists
    const chosen = mode ? { ...others, [dnsbl]: mode } : others
    queries.setQueryData(queryKey, { ...host, lists: chosen })
    setProblem('')
    try {
      queries.setQueryData(queryKey, await monitoring.change(host.id, { lists: chosen }))
    } catch (error) {
      queries.setQueryData(queryKey, host)
      setProblem((error as Error).message)
    }
  }

  return (
    <Section title="Blacklists, for this host">
      <Muted>What a listing means for {host.host} alone. Others follow what you chose for all your hosts.</Muted>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      {lists ? (
        <ModeTable
          caption="Blacklists, for this host"
          lists={lists}
          chosen={({ dnsbl }) => host.lists[dnsbl]}
          otherwise={({ mode }) => `Like my other hosts: ${MODE_NAMES[mode].toLowerCase()}`}
          onChoose={(list, mode) => void choose(list, mode)}
        />
      ) : (
        <Loading lines={4}>Fetching the blacklists …</Loading>
      )}
    </Section>
  )
}
