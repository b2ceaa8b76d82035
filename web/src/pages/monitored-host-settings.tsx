import { labelsOf, wrongLabels } from '../labels/labels.ts'
import { LabelsField } from '../labels/labels-field.tsx'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import {
  hostQuery,
  listsQuery,
  monitoring,
  type HostDetail,
  type MonitoredList,
  type ListMode,
} from '../monitoring/api.ts'
import { ModeTable } from '../monitoring/mode-table.tsx'
import { modes, settings as messages } from '../monitoring/messages.ts'
import { portsOf, wrongPorts } from '../monitoring/ports.ts'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { CheckField, Form, TextField } from '../ui/forms/form.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Columns, Page, Section, Muted } from '../ui/layout/page.tsx'
import { LoadingOrError, Loading } from '../ui/feedback/loading.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/monitoring/$id/settings' })
  const { data: host, error } = useQuery(hostQuery(id))
  const name = host?.host ?? messages.unnamed
  return (
    <Page
      wide
      title={messages.title(name)}
      above={
        <BackLink to="/monitoring/$id" params={{ id }}>
          {name}
        </BackLink>
      }
    >
      <LoadingOrError there={host} error={error} lines={6} shape="form">
        {messages.loading}
      </LoadingOrError>
      {host && (
        <Columns>
          <Settings host={host} />
          <Lists host={host} />
        </Columns>
      )}
    </Page>
  )
}

function Settings({
  host: { id, label, labels, tlsPorts, dnsRecords, host },
}: {
  host: HostDetail
}) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()

  async function save({
    label: text = '',
    labels: labelsText,
    tlsPorts: ports = '',
    dnsRecords: records,
  }: Record<string, string>) {
    const changes = {
      label: text.trim(),
      labels: labelsOf(labelsText),
      tlsPorts: portsOf(ports),
      dnsRecords: records === 'on',
    }
    queries.setQueryData(hostQuery(id).queryKey, await monitoring.change(id, changes))
    await queries.invalidateQueries({ queryKey: ['monitoring', 'hosts'] })
    await navigate({ to: '/monitoring/$id', params: { id } })
  }

  return (
    <Form
      {...access}
      onSubmit={save}
      submit={messages.save}
      check={(values) => ({ ...wrongPorts(values['tlsPorts'] ?? ''), ...wrongLabels(values) })}
    >
      <TextField name="label" label={messages.label} defaultValue={label} maxLength={100} />
      <LabelsField labels={labels} />
      <TextField
        name="tlsPorts"
        label={messages.ports}
        hint={messages.portsHint}
        defaultValue={tlsPorts.join(' ')}
      />
      <CheckField
        name="dnsRecords"
        label={messages.records}
        hint={messages.recordsHint(host)}
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
    <Section title={messages.modes}>
      <Muted>{messages.modesHint(host.host)}</Muted>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
      {lists ? (
        <ModeTable
          caption={messages.modes}
          lists={lists}
          chosen={({ dnsbl }) => host.lists[dnsbl]}
          otherwise={({ mode }) => messages.inherited(mode)}
          onChoose={(list, mode) => void choose(list, mode)}
        />
      ) : (
        <Loading lines={4}>{modes.loading}</Loading>
      )}
    </Section>
  )
}
