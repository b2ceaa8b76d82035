import { useQuery } from '@tanstack/react-query'
import { AdministrationNavigation } from '../administration/administration-navigation.tsx'
import { healthQuery, type Health } from '../administration/api.ts'
import { describeHealth, STATE_TONES, describeQueue } from '../administration/messages.ts'
import { Ago } from '../ui/text/ago.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts, Values } from '../ui/lists/facts.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section, Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { counted, numberText, sizeText } from '../ui/text/format.ts'

/** Whether this Portreeve is well. */
export function Screen() {
  const { data: health, error } = useQuery(healthQuery)
  return (
    <Page wide title="Administration">
      <AdministrationNavigation />
      <LoadingOrError there={health} error={error} lines={5}>
        Asking the resolvers and the blacklists …
      </LoadingOrError>
      {health && <Found {...health} />}
    </Page>
  )
}

function Found({ findings, version, upSince, database, jobs }: Health) {
  const { tone, sentence } = describeHealth(findings)
  return (
    <>
      <div role="status">
        <Notice tone={tone}>
          <strong>{sentence}</strong>
        </Notice>
      </div>
      <Section title="What was looked at">
        <Findings findings={findings} />
      </Section>
      <Section title="Queue">
        <Queue jobs={jobs} />
      </Section>
      <Section title="Service">
        <Facts
          facts={[
            ['Portreeve', version],
            ['Up since', <Ago key="up" at={upSince} />],
            ['Database', `PostgreSQL ${database.version}, ${sizeText(database.bytes)}`],
          ]}
        />
      </Section>
    </>
  )
}

function Findings({ findings }: Pick<Health, 'findings'>) {
  return (
    <Table caption="What was looked at" quiet columns={['Part', 'State', 'What was found']}>
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

/** What has work, and folded away what has none. */
function Queue({ jobs }: Pick<Health, 'jobs'>) {
  const busy = jobs.filter((job) => describeQueue(job) !== null || job.failed > 0)
  const idle = jobs.filter((job) => !busy.includes(job))
  return (
    <>
      {busy.length > 0 ? (
        <JobTable caption="Jobs with work" jobs={busy} />
      ) : (
        <Muted>Nothing runs, nothing waits, and nothing failed within a day.</Muted>
      )}
      {idle.length > 0 && (
        <Disclosure summary={`${counted(idle.length, 'kind')} of jobs with nothing to do`}>
          <Values values={idle.map(({ name }) => name)} />
        </Disclosure>
      )}
    </>
  )
}

function JobTable({ caption, jobs }: Pick<Health, 'jobs'> & { caption: string }) {
  return (
    <Table caption={caption} quiet columns={['Job', 'Work', 'Failed']}>
      {jobs.map((job) => (
        <tr key={job.name}>
          <th scope="row">{job.name}</th>
          <td>{describeQueue(job)}</td>
          <td>{job.failed > 0 && <Status tone="warn">{`${numberText(job.failed)} failed within a day`}</Status>}</td>
        </tr>
      ))}
    </Table>
  )
}
