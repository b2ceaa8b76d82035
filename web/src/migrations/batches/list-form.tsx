import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { mailCredentialsQuery } from '../../imap/credentials.ts'
import { owner, stored as signIns } from '../../imap/messages.ts'
import { Notice } from '../../ui/feedback/notice.tsx'
import { CheckField, FieldRow, Form, SelectField, TextField } from '../../ui/forms/form.tsx'
import { Muted } from '../../ui/layout/page.tsx'
import type { Field, ListDraft, ReadMailboxes } from './api.ts'
import { EMPTY_LIST, listFields, ListInput } from './list-input.tsx'
import { ListPreview } from './list-preview.tsx'
import { form as messages } from './messages.ts'
import { useListPreview } from './use-list-preview.ts'

type Server = { host: string; port: string; secure: boolean; credentialId: string }
type Servers = {
  source: Server
  destination: Server
  samePassword: boolean
  tlsVerify: boolean
}

/** The choice of a side that waits for the owners of its mailboxes. */
const OWNER = 'owner'

const NO_SERVER: Server = { host: '', port: '', secure: true, credentialId: '' }
const NO_SERVERS: Servers = {
  source: NO_SERVER,
  destination: NO_SERVER,
  samePassword: false,
  tlsVerify: true,
}

type ListFormProps = {
  submit: (valid: number) => string
  disabledReason?: string | undefined
  /** Fields above the list, and below the servers. */
  before?: ReactNode
  after?: ReactNode
  onSubmit: (list: ListDraft, values: Record<string, string>) => Promise<void>
}

/** A form with a list of mailboxes, the servers, and a preview with the problem of each line. */
export function ListForm({ submit, disabledReason, before, after, onSubmit }: ListFormProps) {
  const [list, setList] = useState(EMPTY_LIST)
  const [servers, setServers] = useState(NO_SERVERS)
  const [columns, setColumns] = useState<(Field | null)[] | null>(null)
  const draft = draftOf(listFields(list), servers, columns)
  const { read, error, isReading } = useListPreview(draft)

  async function send(values: Record<string, string>): Promise<void> {
    if (draft === null) throw new Error(messages.nothing)
    await onSubmit(draft, values)
  }

  return (
    <Form guarded submit={submit(read?.valid ?? 0)} disabledReason={disabledReason} onSubmit={send}>
      {before}
      <h2>{messages.servers}</h2>
      <Muted>{messages.serversHint}</Muted>
      <ServerFields
        side="source"
        onChange={(source) =>
          setServers((all) => ({ ...all, source: { ...all.source, ...source } }))
        }
      />
      <ServerFields
        side="destination"
        onChange={(destination) =>
          setServers((all) => ({ ...all, destination: { ...all.destination, ...destination } }))
        }
      />
      <CheckField
        name="samePassword"
        label={messages.samePassword}
        onChoose={(samePassword) => setServers((all) => ({ ...all, samePassword }))}
      />
      <CheckField
        name="tlsVerify"
        label={messages.verify}
        defaultChecked
        onChoose={(tlsVerify) => setServers((all) => ({ ...all, tlsVerify }))}
      />
      <h2>{messages.mailboxes}</h2>
      <ListInput
        list={list}
        onChange={(changed) => {
          setList(changed)
          setColumns(null)
        }}
      />
      {draft !== null && (
        <Preview
          read={read}
          chosen={columns}
          lacksServers={servers.source.host === '' || servers.destination.host === ''}
          error={error}
          isReading={isReading}
          onColumns={setColumns}
        />
      )}
      {after}
    </Form>
  )
}

type PreviewProps = {
  read: ReadMailboxes | undefined
  chosen: (Field | null)[] | null
  lacksServers: boolean
  error: Error | null
  isReading: boolean
  onColumns: (columns: (Field | null)[]) => void
}

function Preview({ read, error, isReading, ...rest }: PreviewProps) {
  return (
    <>
      <h2>{messages.preview}</h2>
      {error && !isReading && (
        <div role="alert">
          <Notice tone="bad">{error.message}</Notice>
        </div>
      )}
      {!read && !error && <Muted>{messages.reading}</Muted>}
      {read && !error && <ListPreview read={read} {...rest} />}
    </>
  )
}

function ServerFields({
  side,
  onChange,
}: {
  side: 'source' | 'destination'
  onChange: (changed: Partial<Server>) => void
}) {
  const [secure, setSecure] = useState(true)
  const { data: credentials = [] } = useQuery(mailCredentialsQuery)
  const choices = credentials.map(({ id, account, kind }) => ({
    value: id,
    label: signIns.choice(account, signIns.useKind[kind]),
  }))
  return (
    <FieldRow>
      <TextField
        name={`${side}.host`}
        label={side === 'source' ? messages.sourceHost : messages.destinationHost}
        placeholder={side === 'source' ? 'imap.old.example' : 'imap.new.example'}
        autoComplete="off"
        spellCheck={false}
        inputMode="url"
        onType={(host) => onChange({ host: host.trim() })}
      />
      <SelectField
        name={`${side}.secure`}
        label={side === 'source' ? messages.sourceSecurity : messages.destinationSecurity}
        choices={Object.entries(messages.security).map(([value, label]) => ({ value, label }))}
        onChoose={(value) => {
          setSecure(value === 'tls')
          onChange({ secure: value === 'tls' })
        }}
      />
      <TextField
        name={`${side}.port`}
        label={side === 'source' ? messages.sourcePort : messages.destinationPort}
        placeholder={secure ? '993' : '143'}
        inputMode="numeric"
        autoComplete="off"
        onType={(port) => onChange({ port })}
      />
      <SelectField
        name={`${side}.credentialId`}
        label={side === 'source' ? messages.sourceSignIn : messages.destinationSignIn}
        choices={[
          { value: '', label: signIns.password },
          ...choices,
          { value: OWNER, label: owner.choice },
        ]}
        onChoose={(credentialId) => onChange({ credentialId })}
      />
    </FieldRow>
  )
}

function draftOf(
  list: ReturnType<typeof listFields>,
  { source, destination, samePassword, tlsVerify }: Servers,
  columns: (Field | null)[] | null,
): ListDraft | null {
  if (list === null) return null
  return {
    ...list,
    source: { ...sideOf(source), tlsVerify },
    destination: { ...sideOf(destination), tlsVerify },
    samePassword,
    ...(columns && { columns }),
  }
}

/** An empty port is the default one. */
function sideOf({ host, port, secure, credentialId }: Server) {
  const number = Number(port)
  const isPort = Number.isInteger(number) && number >= 1 && number <= 65_535
  // Without a host, the security is up to the lines.
  return {
    ...(host && { host, secure }),
    ...(isPort && { port: number }),
    ...(credentialId === OWNER ? { owner: true } : credentialId && { credentialId }),
  }
}
