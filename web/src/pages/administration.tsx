import { useQuery } from '@tanstack/react-query'
import { healthQuery, type Health } from '../administration/api.ts'
import {
  describeHealth,
  describeQueue,
  health as messages,
  STATE_TONES,
} from '../administration/messages.ts'
import { Ago } from '../ui/text/ago.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts, Values } from '../ui/lists/facts.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { sizeText } from '../ui/text/format.ts'

/** Health checks, the job queue and facts about the service. */
export function Screen() {
  const { data: health, error } = useQuery(healthQuery)
  return (
    <Page wide title={messages.title} rail={health ? <ServiceFacts {...health} /> : null}>
      <LoadingOrError there={health} error={error} lines={5}>
        {messages.loading}
      </LoadingOrError>
      {health && <HealthReport {...health} />}
    </Page>
  )
}

function HealthReport({ findings, jobs }: Health) {
  const { tone, sentence } = describeHealth(findings)
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      <Section title={messages.checks}>
        <Findings findings={findings} />
      </Section>
      <Section title={messages.queue}>
        <Queue jobs={jobs} />
      </Section>
    </>
  )
}

function ServiceFacts({ version, upSince, database }: Health) {
  return (
    <Section title={messages.service}>
      <Facts
        facts={[
          [messages.version, version],
          [messages.upSince, <Ago key="up" at={upSince} />],
          [messages.database, messages.databaseText(database.version, sizeText(database.bytes))],
        ]}
      />
    </Section>
  )
}

function Findings({ findings }: Pick<Health, 'findings'>) {
  return (
    <Table caption={messages.checks} quiet columns={[...messages.columns]}>
      {findings.map(({ about, state, sentence }) => (
        <tr key={`${about} ${sentence}`}>
          <th scope="row">{about.replace(/^./, (letter) => letter.toUpperCase())}</th>
          <td>
            <Status tone={STATE_TONES[state].tone}>{STATE_TONES[state].word}</Status>
          </td>
          <td>{sentence}</td>
        </tr>
      ))}
    </Table>
  )
}

/** Job types with work, and behind a disclosure those without. */
function Queue({ jobs }: Pick<Health, 'jobs'>) {
  const busy = jobs.filter((job) => describeQueue(job) !== null || job.failed > 0)
  const idle = jobs.filter((job) => !busy.includes(job))
  return (
    <>
      {busy.length > 0 ? (
        <JobTable caption={messages.activeJobs} jobs={busy} />
      ) : (
        <Muted>{messages.noJobs}</Muted>
      )}
      {idle.length > 0 && (
        <Disclosure summary={messages.idleJobs(idle.length)}>
          <Values values={idle.map(({ name }) => name)} />
        </Disclosure>
      )}
    </>
  )
}

function JobTable({ caption, jobs }: Pick<Health, 'jobs'> & { caption: string }) {
  return (
    <Table caption={caption} quiet columns={[...messages.jobColumns]}>
      {jobs.map((job) => (
        <tr key={job.name}>
          <th scope="row">{job.name}</th>
          <td>{describeQueue(job)}</td>
          <td>{job.failed > 0 && <Status tone="warn">{messages.failures(job.failed)}</Status>}</td>
        </tr>
      ))}
    </Table>
  )
}
