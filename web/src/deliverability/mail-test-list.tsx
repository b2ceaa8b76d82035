import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { deleteWithUndo, withoutDeleted } from '../deletions.ts'
import { Button } from '../ui/actions/button.tsx'
import { Empty } from '../ui/feedback/empty.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { FileDrop } from '../ui/forms/file-drop.tsx'
import { Card, Section, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { mailTests, mailTestsQuery, type ListedMailTest } from './api.ts'
import { mailTests as messages } from './messages.ts'

/** Creates tests of a domain, or of no domain, and lists the recent ones. */
export function MailTests({ domain }: { domain: string | null }) {
  const { data, error } = useQuery(mailTestsQuery(domain))
  const tests = data && withoutDeleted(data.data)
  return (
    <>
      <NewTest domain={domain} />
      <LoadingOrError there={tests} error={error} lines={3} shape="table">
        {messages.loading}
      </LoadingOrError>
      {tests && tests.length === 0 && (
        <Empty icon="mail" title={messages.none}>
          <p>{messages.noneText}</p>
        </Empty>
      )}
      {tests && tests.length > 0 && (
        <Section title={messages.list}>
          <Table caption={messages.list} quiet columns={messages.columns}>
            {tests.map((test) => (
              <TestRow key={test.id} test={test} domain={domain} />
            ))}
          </Table>
        </Section>
      )}
    </>
  )
}

function NewTest({ domain }: { domain: string | null }) {
  const access = useAccess()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState('')

  async function start(create: () => Promise<{ id: string }>): Promise<void> {
    setBusy(true)
    setProblem('')
    try {
      const { id } = await create()
      await queries.invalidateQueries({ queryKey: ['mail-tests', 'list'] })
      await navigate({ to: '/mail-tests/$id', params: { id } })
    } catch (error) {
      setProblem((error as Error).message)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Section title={messages.create}>
      <Card>
        <Stack>
          <p>{messages.creating}</p>
          <div>
            <Button
              {...access}
              kind="primary"
              busy={isBusy}
              onClick={() => void start(() => mailTests.create(domain))}
            >
              {messages.create}
            </Button>
          </div>
          <h3>{messages.file}</h3>
          <FileDrop
            {...access}
            label={messages.fileLabel}
            hint={messages.fileHint}
            busy={isBusy}
            onFiles={([file]) =>
              file && void start(async () => mailTests.testFile(domain, await base64Of(file)))
            }
          />
          <div role="alert">{problem && <Notice tone="bad">{problem}</Notice>}</div>
        </Stack>
      </Card>
    </Section>
  )
}

async function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => {
      // `data:message/rfc822;base64,…`
      const url = typeof reader.result === 'string' ? reader.result : ''
      resolve(url.slice(url.indexOf(',') + 1))
    })
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.name)))
    reader.readAsDataURL(file)
  })
}

function TestRow({ test, domain }: { test: ListedMailTest; domain: string | null }) {
  const access = useAccess()
  const queries = useQueryClient()
  const { id, subject, createdAt, mailCount } = test
  const name = mailCount === 0 ? messages.open : (subject ?? messages.noSubject)
  return (
    <tr>
      <th scope="row">
        <Link to="/mail-tests/$id" params={{ id }}>
          {name}
        </Link>
        {domain === null && test.domain !== null && <small>{test.domain}</small>}
      </th>
      <td>
        <Result test={test} />
      </td>
      <td>
        <Ago at={createdAt} />
      </td>
      <td>
        <Button
          {...access}
          size="small"
          kind="quiet"
          onClick={() =>
            deleteWithUndo(queries, {
              id,
              text: messages.removing(name),
              list: ['mail-tests', 'list'],
              send: () => mailTests.remove(id),
            })
          }
        >
          {messages.remove} <VisuallyHidden>{name}</VisuallyHidden>
        </Button>
      </td>
    </tr>
  )
}

function Result({ test: { state, isOpen, blocks, hurts } }: { test: ListedMailTest }) {
  if (state === null)
    return (
      <Status tone={isOpen ? 'info' : 'unknown'}>
        {isOpen ? messages.waiting : messages.expired}
      </Status>
    )
  if (state === 'analyzing') return <Status tone="info">{messages.analyzing}</Status>
  if (state === 'failed') return <Status tone="unknown">{messages.failed}</Status>
  if (blocks + hurts === 0) return <Status tone="good">{messages.good}</Status>
  return <Status tone={blocks > 0 ? 'bad' : 'warn'}>{messages.problems(blocks, hurts)}</Status>
}
