import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { batches, batchQuery, type Batch } from '../migrations/batches/api.ts'
import { BatchActions, useBatchAction } from '../migrations/batches/batch-actions.tsx'
import classes from '../migrations/batches/batches.module.css'
import { MailboxTable } from '../migrations/batches/mailbox-table.tsx'
import { batch as messages } from '../migrations/batches/messages.ts'
import { BatchOwnerLinks } from '../migrations/batches/owner-links.tsx'
import { countInSync, toneOf } from '../migrations/batches/status.ts'
import { BatchSync } from '../migrations/sync/batch-sync.tsx'
import { CutoverSection } from '../migrations/cutover/cutover-section.tsx'
import { proof as proofMessages } from '../migrations/proof/messages.ts'
import { sync as syncMessages } from '../migrations/sync/messages.ts'
import { Button } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Muted, Page, Row, Section } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Stats } from '../ui/lists/stats.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { numberText, sizeText } from '../ui/text/format.ts'
import { VisuallyHidden } from '../ui/text/visually-hidden.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/migrations/batches/$id' })
  const { data, error } = useQuery(batchQuery(id))
  return (
    <Page
      wide
      title={data?.name ?? messages.untitled}
      above={<BackLink to="/migrations/batches">{messages.back}</BackLink>}
    >
      <LoadingOrError there={data} error={error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {data && (
        <>
          <BatchActions batch={data} />
          <Headline batch={data} />
          <HeldHosts batch={data} />
          {data.problems.length > 0 && (
            <Section title={messages.problems}>
              <Problems batch={data} />
            </Section>
          )}
          <BatchOwnerLinks batch={data} />
          <Section title={messages.mailboxes}>
            <MailboxTable batch={data} />
          </Section>
          {data.finishedAt === null && (
            <Section title={syncMessages.title}>
              <BatchSync batch={data} />
            </Section>
          )}
          <CutoverSection batch={data} />
          <Section title={proofMessages.title}>
            <Muted>{proofMessages.about}</Muted>
            <Link to="/migrations/batches/$id/proof" params={{ id }}>
              {proofMessages.open}
            </Link>
          </Section>
          <Section title={messages.settings}>
            <Settings batch={data} />
          </Section>
        </>
      )}
    </Page>
  )
}

/** The verdict first, then the sums and rates. */
function Headline({ batch }: { batch: Batch }) {
  const { mailboxes, status, messagesDone, messagesTotal, bytesDone, bytesTotal } = batch
  const { messagesPerSecond, bytesPerSecond, etaSeconds } = batch
  const done = countInSync(batch)
  const isRunning = status === 'running'
  return (
    <>
      <div role="status" aria-live={isRunning ? 'off' : 'polite'}>
        <Notice tone={toneOf(batch)}>
          <strong>{messages.verdict(batch)}</strong>
        </Notice>
      </div>
      <ProgressBar
        size="thick"
        label={messages.stats.mailboxes}
        done={done}
        total={mailboxes}
        tone={isRunning ? undefined : toneOf(batch)}
      />
      <Stats
        stats={[
          [messages.stats.mailboxes, messages.of(numberText(done), numberText(mailboxes))],
          [messages.stats.active, isRunning && numberText(batch.counts['syncing'] ?? 0)],
          [
            messages.stats.messages,
            messagesTotal > 0 && messages.of(numberText(messagesDone), numberText(messagesTotal)),
          ],
          [
            messages.stats.data,
            bytesTotal > 0 && messages.of(sizeText(bytesDone), sizeText(bytesTotal)),
          ],
          [
            messages.stats.rate,
            isRunning && messagesPerSecond > 0 && messages.rate(messagesPerSecond, bytesPerSecond),
          ],
          [messages.stats.left, etaSeconds !== null && messages.about(etaSeconds)],
        ]}
      />
    </>
  )
}

function HeldHosts({ batch: { id, heldHosts } }: { batch: Batch }) {
  const access = useAccess()
  const { isBusy, run } = useBatchAction(id)
  if (heldHosts.length === 0) return null
  return (
    <Notice tone="warn" title={messages.heldTitle}>
      {heldHosts.map(({ host, rejections, mailboxes }) => (
        <p key={host}>{messages.held(host, rejections, mailboxes)}</p>
      ))}
      <Row>
        <Button
          {...access}
          size="small"
          busy={isBusy}
          onClick={() => void run(() => batches.resume(id))}
        >
          {messages.continue}
        </Button>
      </Row>
    </Notice>
  )
}

function Problems({ batch: { id, problems, finishedAt } }: { batch: Batch }) {
  const access = useAccess()
  const { isBusy, run } = useBatchAction(id)
  return (
    <ul className={classes.problems}>
      {problems.map(({ code, host, message, count }) => (
        <li key={`${code} ${host}`} className={classes.problem}>
          <div>
            <strong>{messages.problem(count, code, host)}</strong>
            <small>{message}</small>
          </div>
          <Row>
            <Link
              to="/migrations/batches/$id"
              params={{ id }}
              search={{ problem: code, ...(host !== null && { host }) }}
            >
              {messages.show} <VisuallyHidden>{messages.problem(count, code, host)}</VisuallyHidden>
            </Link>
            {code !== 'invalid' && finishedAt === null && (
              <Button
                {...access}
                size="small"
                busy={isBusy}
                onClick={() =>
                  void run(() =>
                    batches.retry(id, { problem: code, ...(host !== null && { host }) }),
                  )
                }
              >
                {messages.retry} <VisuallyHidden>{messages.retryAbout(code)}</VisuallyHidden>
              </Button>
            )}
          </Row>
        </li>
      ))}
    </ul>
  )
}

function Settings({ batch }: { batch: Batch }) {
  const { specialUse, destPrefix, deduplicate, sourceLimit, destinationLimit } = batch
  return (
    <Facts
      facts={[
        [messages.sourceLimit, numberText(sourceLimit)],
        [messages.destinationLimit, numberText(destinationLimit)],
        [messages.folders, specialUse ? messages.specialUse : messages.sameNames],
        [messages.prefix, destPrefix],
        [messages.duplicates, deduplicate ? messages.skipped : messages.copied],
        [messages.created, <Ago key="created" at={batch.createdAt} />],
        [messages.finished, batch.finishedAt && <Ago key="finished" at={batch.finishedAt} />],
      ]}
    />
  )
}
