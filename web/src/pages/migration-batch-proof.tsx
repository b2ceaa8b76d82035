import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { reasonText } from '../../../src/migration/proof/messages.ts'
import { batchQuery } from '../migrations/batches/api.ts'
import {
  batchProofFilePath,
  batchProofQuery,
  proofs,
  type BatchProof,
  type BatchProofs,
} from '../migrations/proof/api.ts'
import { proof as messages } from '../migrations/proof/messages.ts'
import { Sums, resultOf, Verdict, VerifySection } from '../migrations/proof/proof-parts.tsx'
import { RequestForm, type Level } from '../migrations/proof/request-form.tsx'
import { DownloadLink } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Page, Row, Section, Stack } from '../ui/layout/page.tsx'
import { Table } from '../ui/lists/table.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { numberText } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/migrations/batches/$id/proof' })
  const batch = useQuery(batchQuery(id))
  const { data, error } = useQuery(batchProofQuery(id))
  return (
    <Page
      wide
      title={batch.data ? messages.titleOf(batch.data.name) : messages.untitled}
      above={
        <BackLink to="/migrations/batches/$id" params={{ id }}>
          {messages.backToBatch}
        </BackLink>
      }
    >
      <LoadingOrError there={data && batch.data} error={error ?? batch.error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {data && batch.data && (
        <Content id={id} found={data} isFinished={batch.data.finishedAt !== null} />
      )}
    </Page>
  )
}

type ContentProps = { id: string; found: BatchProofs; isFinished: boolean }

function Content({ id, found, isFinished }: ContentProps) {
  const queries = useQueryClient()
  const { proof, waiting, done, mailboxes, key } = found
  async function request(level: Level): Promise<void> {
    await proofs.requestOfBatch(id, { level })
    await queries.invalidateQueries({ queryKey: batchProofQuery(id).queryKey })
  }
  const canRequest = waiting === 0 && !isFinished
  return (
    <>
      {waiting > 0 && (
        <>
          <div role="status">
            <Notice tone="info">{messages.batchRunning(waiting)}</Notice>
          </div>
          <ProgressBar label={messages.mailboxesLabel} done={done} total={mailboxes} />
        </>
      )}
      {proof === null ? (
        <Section title={messages.make}>
          <Stack>
            <Muted>{messages.about}</Muted>
            {canRequest && <RequestForm onRequest={request} />}
          </Stack>
        </Section>
      ) : (
        <>
          {waiting === 0 && <Verdict proof={proof} />}
          <Row>
            <DownloadLink href={batchProofFilePath(id)} name={`proof-batch-${id}.jsonl`}>
              {messages.download}
            </DownloadLink>
          </Row>
          <Sums totals={proof.totals} />
          <Section title={messages.mailboxes}>
            <Mailboxes mailboxes={proof.mailboxes} />
          </Section>
          <VerifySection file={`proof-batch-${id}.jsonl`} proofKey={key} />
          {canRequest && (
            <Disclosure summary={messages.again}>
              <RequestForm onRequest={request} />
            </Disclosure>
          )}
        </>
      )}
    </>
  )
}

/** Problems first, in the order of the list. */
function Mailboxes({ mailboxes }: Pick<BatchProof, 'mailboxes'>) {
  const sorted = mailboxes.toSorted(
    (a, b) => Number(b.verdict === 'incomplete') - Number(a.verdict === 'incomplete'),
  )
  return (
    <Table
      caption={messages.mailboxes}
      quiet
      columns={[
        messages.mailbox,
        messages.result,
        messages.source,
        messages.kept,
        messages.additional,
      ]}
    >
      {sorted.map((mailbox) => (
        <MailboxRow key={mailbox.source} mailbox={mailbox} />
      ))}
    </Table>
  )
}

function Result({ tone, word }: ReturnType<typeof resultOf>) {
  return <Status tone={tone}>{word}</Status>
}

function MailboxRow({ mailbox }: { mailbox: BatchProof['mailboxes'][number] }) {
  const { source, migration, problem, verdict, totals, missing } = mailbox
  const reasons = missing.map(({ reason, messages: count }) => `${count} ${reasonText(reason)}`)
  return (
    <tr>
      <th scope="row">
        {migration === null ? (
          source
        ) : (
          <Link to="/migrations/$id/proof" params={{ id: migration }}>
            {source}
          </Link>
        )}
      </th>
      <td>
        {problem === null && totals ? (
          <Result {...resultOf({ verdict, totals })} />
        ) : (
          <Status tone="unknown">{messages.notRead}</Status>
        )}
        {problem !== null && <small>{problem}</small>}
        {reasons.length > 0 && <small>{reasons.join(', ')}</small>}
      </td>
      {totals && (
        <>
          <td data-label={messages.source}>{numberText(totals.source.messages)}</td>
          <td data-label={messages.kept}>{numberText(totals.kept.messages)}</td>
          <td data-label={messages.additional}>{numberText(totals.additional.messages)}</td>
        </>
      )}
    </tr>
  )
}
