import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { dmarc, mailboxesQuery, type ReportMailbox } from '../dmarc/api.ts'
import { serverOf, wrongAccount } from '../imap/account.ts'
import { AccountFields, ConnectionFields } from '../imap/account-fields.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Button } from '../ui/actions/button.tsx'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { FieldRow, Form, TextField } from '../ui/forms/form.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Row, Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted } from '../ui/text/format.ts'

export function Screen() {
  const { data: mailboxes, error } = useQuery(mailboxesQuery)
  return (
    <Page
      wide
      title="Mailboxes"
      above={<BackLink to="/dmarc">DMARC</BackLink>}
      lead="Reports that arrive in a mailbox of yours are read out of it every ten minutes. A message is moved or marked as seen only once its reports are stored."
    >
      <LoadingOrError there={mailboxes} error={error} lines={3}>
        Fetching your mailboxes …
      </LoadingOrError>
      {mailboxes && mailboxes.length > 0 && <MailboxTable mailboxes={mailboxes} />}
      <Section title="Read a mailbox">
        <Card>
          <NewMailbox />
        </Card>
      </Section>
    </Page>
  )
}

function MailboxTable({ mailboxes }: { mailboxes: ReportMailbox[] }) {
  return (
    <Table caption="Your mailboxes" quiet columns={['Mailbox', 'State', 'Read', 'Actions']}>
      {mailboxes.map((mailbox) => (
        <MailboxRow key={mailbox.id} mailbox={mailbox} />
      ))}
    </Table>
  )
}

function MailboxRow({ mailbox }: { mailbox: ReportMailbox }) {
  const { user, host, folder, moveTo, fetchedAt, totalMessages, lastError } = mailbox
  return (
    <tr>
      <th scope="row">
        {user}
        <small>
          {folder} on {host}
          {moveTo && `, then to ${moveTo}`}
        </small>
      </th>
      <td>
        {lastError === null ? (
          <Status tone={fetchedAt ? 'good' : 'info'}>{fetchedAt ? 'Read' : 'Not read yet'}</Status>
        ) : (
          <>
            <Status tone="bad">Failing</Status>
            <small>{lastError}</small>
          </>
        )}
      </td>
      <td>
        <Muted>{fetchedAt ? <Ago at={fetchedAt} /> : 'not yet'}</Muted>
        <small>{counted(totalMessages, 'message')}</small>
      </td>
      <td>
        <Ways mailbox={mailbox} />
      </td>
    </tr>
  )
}

function Ways({ mailbox: { id, user } }: { mailbox: ReportMailbox }) {
  const queries = useQueryClient()
  const [problem, setProblem] = useState('')

  async function read(): Promise<void> {
    setProblem('')
    try {
      await dmarc.fetchMailbox(id)
      await queries.invalidateQueries(mailboxesQuery)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  async function remove(): Promise<void> {
    await dmarc.removeMailbox(id)
    await queries.invalidateQueries(mailboxesQuery)
  }

  return (
    <>
      <Row>
        <Button size="small" onClick={() => void read()}>
          Read now <VisuallyHidden>{user}</VisuallyHidden>
        </Button>
        <ConfirmButton label="Remove" about={user} title={`Read ${user} no more?`} onConfirm={remove}>
          Reports that were read stay. The password is forgotten.
        </ConfirmButton>
      </Row>
      <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
    </>
  )
}

function NewMailbox() {
  const queries = useQueryClient()
  const [added, setAdded] = useState(0)

  async function add(values: Record<string, string>): Promise<void> {
    const { folder = '', moveTo = '' } = values
    await dmarc.addMailbox({
      ...serverOf(values),
      password: values['password'] ?? '',
      folder: folder.trim() || 'INBOX',
      ...(moveTo.trim() && { moveTo: moveTo.trim() }),
    })
    await queries.invalidateQueries(mailboxesQuery)
    setAdded(added + 1)
  }

  return (
    <Form key={added} onSubmit={add} submit="Read this mailbox" check={wrongAccount}>
      <AccountFields example="dmarc@example.com" />
      <FieldRow>
        <TextField
          name="folder"
          label="Folder"
          hint="Where the reports arrive."
          defaultValue="INBOX"
          autoComplete="off"
        />
        <TextField
          name="moveTo"
          label="Move read messages to"
          hint="Empty: they are marked as seen and stay."
          placeholder="Done"
          autoComplete="off"
        />
      </FieldRow>
      <ConnectionFields />
    </Form>
  )
}
