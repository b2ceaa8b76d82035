import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { LEVEL_TEXTS, reasonText } from '../../../src/migration/proof/messages.ts'
import { secretOf, wrongSecret } from '../imap/account.ts'
import { SecretField } from '../imap/secret-field.tsx'
import { migrationQuery, type Migration } from '../migrations/api.ts'
import { retry as retryMessages } from '../migrations/messages.ts'
import {
  proofFilePath,
  proofQuery,
  proofs,
  type MailboxProof,
  type MigrationProof,
} from '../migrations/proof/api.ts'
import { proof as messages } from '../migrations/proof/messages.ts'
import {
  Reasons,
  sentenceOf,
  Sums,
  Verdict,
  VerifySection,
} from '../migrations/proof/proof-parts.tsx'
import { RequestForm, type Level } from '../migrations/proof/request-form.tsx'
import { DownloadLink } from '../ui/actions/button.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { FieldRow } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Muted, Page, Row, Section, Stack } from '../ui/layout/page.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Table } from '../ui/lists/table.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Ago } from '../ui/text/ago.tsx'
import { numberText } from '../ui/text/format.ts'

export function Screen() {
  const { id } = useParams({ from: '/own/migrations/$id/proof' })
  const migration = useQuery(migrationQuery(id))
  const found = useQuery(proofQuery(id))
  const there = migration.data && found.data
  return (
    <Page
      wide
      title={migration.data ? messages.titleOf(migration.data.srcUser) : messages.untitled}
      above={
        <BackLink to="/migrations/$id" params={{ id }}>
          {messages.backToMigration}
        </BackLink>
      }
    >
      <LoadingOrError there={there} error={migration.error ?? found.error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {migration.data && found.data && <Content migration={migration.data} found={found.data} />}
    </Page>
  )
}

type ContentProps = { migration: Migration; found: MigrationProof }

function Content({ migration, found }: ContentProps) {
  const { proof, state, key } = found
  const { migrationId: id } = migration
  const isRunning = state === 'waiting' || state === 'running'
  const form = <Request migration={migration} found={found} />
  return (
    <>
      <State found={found} />
      {proof === null && !isRunning && (
        <Section title={messages.make}>
          <Stack>
            <Muted>{messages.about}</Muted>
            {form}
          </Stack>
        </Section>
      )}
      {proof !== null && (
        <>
          <Verdict proof={proof} />
          <Row>
            <DownloadLink href={proofFilePath(id)} name={`proof-${id}.jsonl`}>
              {messages.download}
            </DownloadLink>
          </Row>
          <Details proof={proof} />
          <VerifySection file={`proof-${id}.jsonl`} proofKey={key} />
          {!isRunning && <Disclosure summary={messages.again}>{form}</Disclosure>}
        </>
      )}
    </>
  )
}

function State({
  found: { state, error, messagesRead, messagesTotal },
}: {
  found: MigrationProof
}) {
  if (state === 'failed' && error !== null)
    return (
      <div role="alert">
        <Notice tone="bad">{messages.failed(error)}</Notice>
      </div>
    )
  if (state !== 'waiting' && state !== 'running') return null
  return (
    <>
      <div role="status">
        <Notice tone="info">{messages[state]}</Notice>
      </div>
      {messagesTotal !== null && (
        <ProgressBar label={messages.read} done={messagesRead} total={messagesTotal} />
      )}
    </>
  )
}

const SOURCE = 'source.'
const DESTINATION = 'destination.'

/** Passwords are asked for where they were deleted. */
function Request({ migration, found: { needsPasswords } }: ContentProps) {
  const queries = useQueryClient()
  const { migrationId: id, srcUser, srcHost, dstUser, dstHost } = migration
  async function request(level: Level, values: Record<string, string>): Promise<void> {
    await proofs.request(id, {
      level,
      ...(needsPasswords && {
        source: secretOf(values, SOURCE),
        destination: secretOf(values, DESTINATION),
      }),
    })
    await queries.invalidateQueries({ queryKey: proofQuery(id).queryKey })
  }
  return (
    <RequestForm onRequest={request} check={needsPasswords ? missing : undefined}>
      {needsPasswords && <Muted>{messages.passwordsDeleted}</Muted>}
      {needsPasswords && (
        <FieldRow>
          <SecretField
            prefix={SOURCE}
            labelOf={(secret) =>
              retryMessages.source(
                secret.toLowerCase(),
                migration.srcSignIn.administrator ?? srcUser,
                srcHost,
              )
            }
          />
          <SecretField
            prefix={DESTINATION}
            labelOf={(secret) =>
              retryMessages.destination(
                secret.toLowerCase(),
                migration.dstSignIn.administrator ?? dstUser,
                dstHost,
              )
            }
          />
        </FieldRow>
      )}
    </RequestForm>
  )
}

function missing(values: Record<string, string>): Record<string, string> {
  return { ...wrongSecret(values, SOURCE), ...wrongSecret(values, DESTINATION) }
}

function Details({ proof }: { proof: MailboxProof }) {
  const nameOf = ({ user, host }: MailboxProof['source']) => `${user} · ${host}`
  return (
    <>
      <Sums totals={proof.totals} />
      <Reasons title={messages.missing} reasons={proof.missing} />
      <Reasons title={messages.changes} reasons={proof.changes} />
      <Reasons title={messages.additionalTitle} reasons={proof.additional} />
      {proof.missingMessages.length > 0 && <MissingMessages proof={proof} />}
      <Section title={messages.folders}>
        <Folders folders={proof.folders} />
      </Section>
      {proof.leftOut.length > 0 && (
        <Section title={messages.leftOut}>
          <Facts
            facts={proof.leftOut.map(({ folder, messages: count }) => [
              folder,
              count === null ? messages.notCounted : numberText(count),
            ])}
          />
        </Section>
      )}
      <Section title={messages.accounts}>
        <Facts
          facts={[
            [messages.source, nameOf(proof.source)],
            [messages.destination, nameOf(proof.destination)],
            [messages.compared, sentenceOf(LEVEL_TEXTS[proof.level])],
            [messages.readAt, <Ago key="read" at={proof.readUntil} />],
            [messages.passes, numberText(proof.migration.passes)],
            [messages.madeBy, proof.madeBy],
          ]}
        />
      </Section>
    </>
  )
}

function Folders({ folders }: Pick<MailboxProof, 'folders'>) {
  return (
    <Table
      caption={messages.folders}
      quiet
      columns={[
        messages.folder,
        messages.source,
        messages.kept,
        messages.foundElsewhere,
        messages.missing,
        messages.additional,
      ]}
    >
      {folders.map(
        ({ destination, sources, source, kept, elsewhere, missing: lost, additional }) => (
          <tr key={destination ?? sources[0]?.folder}>
            <th scope="row">{destination ?? sources.map(({ folder }) => folder).join(', ')}</th>
            <td data-label={messages.source}>{numberText(source.messages)}</td>
            <td data-label={messages.kept}>{numberText(kept.messages)}</td>
            <td data-label={messages.foundElsewhere}>{numberText(elsewhere)}</td>
            <td data-label={messages.missing}>{numberText(lost)}</td>
            <td data-label={messages.additional}>{numberText(additional.messages)}</td>
          </tr>
        ),
      )}
    </Table>
  )
}

function MissingMessages({ proof: { missingMessages } }: { proof: MailboxProof }) {
  return (
    <Section title={messages.missingMessages}>
      <Table
        caption={messages.missingMessages}
        quiet
        columns={[messages.folder, messages.uid, messages.detail]}
      >
        {missingMessages.map(({ folder, uid, reason, detail }) => (
          <tr key={`${folder} ${uid}`}>
            <th scope="row">{folder}</th>
            <td data-label={messages.uid}>{uid}</td>
            <td>{detail ?? sentenceOf(reasonText(reason))}</td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
