import { Notice } from '../ui/feedback/notice.tsx'
import type { Tone } from '../ui/feedback/status.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Card, Muted, Section, SectionList, Stack } from '../ui/layout/page.tsx'
import { BulletList } from '../ui/lists/bullet-list.tsx'
import { Facts } from '../ui/lists/facts.tsx'
import { Table } from '../ui/lists/table.tsx'
import type { MailBackground, MailEngine, MailReceiver, TestMailResult } from './api.ts'
import { FindingList, Session } from './finding-list.tsx'
import { mailTest as messages, originNames, stateNames } from './messages.ts'

/** Everything about one mail of a test: the verdict, then what to change, then the rest. */
export function MailResult({ mail }: { mail: TestMailResult }) {
  const { findings, verdict, firstStep, state, changes, receivers, engines, background, origin } =
    mail
  const failures = findings.filter((finding) => finding.state === 'failed')
  const problems = failures.filter(({ severity }) => severity !== 'note')
  const notes = failures.filter(({ severity }) => severity === 'note')
  const passed = findings.filter((finding) => finding.state === 'passed')
  const notChecked = findings.filter((finding) => finding.state === 'not-checked')
  // Then the answer lies beside the mail, so it stands first.
  const isGreen = background.length > 0 && problems.length === 0
  return (
    <SectionList>
      <div role="status">
        <Notice tone={toneOfMail(mail)} title={verdict}>
          {firstStep !== null && <p>{firstStep}</p>}
          <p>{messages.folder}</p>
          {origin !== 'smtp' && <p>{messages.reported}</p>}
        </Notice>
      </div>
      {changes !== null && state === 'done' && <Changes changes={changes} />}
      {isGreen && <Background facts={background} isGreen />}
      <Section title={messages.findings}>
        {problems.length > 0 ? (
          <FindingList findings={problems} />
        ) : (
          <p>
            <Muted>{messages.noProblems}</Muted>
          </p>
        )}
        {notes.length > 0 && (
          <Disclosure summary={messages.notes(notes.length)}>
            {() => <FindingList findings={notes} />}
          </Disclosure>
        )}
        {notChecked.length > 0 && (
          <Disclosure summary={messages.notChecked(notChecked.length)}>
            {() => <FindingList findings={notChecked} />}
          </Disclosure>
        )}
        {passed.length > 0 && (
          <Disclosure summary={messages.passed(passed.length)}>
            {() => <FindingList findings={passed} />}
          </Disclosure>
        )}
      </Section>
      {state === 'done' && <Receivers receivers={receivers} />}
      {!isGreen && background.length > 0 && <Background facts={background} />}
      {engines.length > 0 && <Engines engines={engines} />}
      <Delivery mail={mail} />
    </SectionList>
  )
}

function toneOfMail({ state, findings }: TestMailResult): Tone {
  if (state === 'analyzing') return 'info'
  if (state === 'failed') return 'unknown'
  const failed = findings.filter((finding) => finding.state === 'failed')
  if (failed.some(({ severity }) => severity === 'blocks')) return 'bad'
  if (failed.some(({ severity }) => severity === 'hurts')) return 'warn'
  const isOpen = findings.some((one) => one.state === 'not-checked' && one.severity === 'blocks')
  return isOpen ? 'unknown' : 'good'
}

function Changes({ changes }: { changes: NonNullable<TestMailResult['changes']> }) {
  return (
    <Section title={messages.changed}>
      {changes.length === 0 ? (
        <p>
          <Muted>{messages.unchanged}</Muted>
        </p>
      ) : (
        <BulletList>
          {changes.map(({ id, title, before, after }) => (
            <li key={id}>
              <strong>{title}</strong>: {messages.change(stateNames[before], stateNames[after])}
            </li>
          ))}
        </BulletList>
      )}
    </Section>
  )
}

function Receivers({ receivers }: { receivers: MailReceiver[] }) {
  return (
    <Section title={messages.receivers}>
      <Table caption={messages.receivers} quiet columns={messages.receiverColumns}>
        {receivers.map(({ title, requirements, passedCount }) => {
          const of = (state: MailReceiver['requirements'][number]['state']) =>
            requirements.filter((one) => one.state === state)
          return (
            <tr key={title}>
              <th scope="row">{title}</th>
              <td>{messages.requirements(passedCount, requirements.length)}</td>
              <td>
                {passedCount === requirements.length
                  ? messages.allMet
                  : of('failed').map((one) => <small key={one.title}>{one.title}</small>)}
              </td>
              <td>
                {of('not-checked').map((one) => (
                  <small key={one.title}>{one.title}</small>
                ))}
              </td>
            </tr>
          )
        })}
      </Table>
    </Section>
  )
}

const BACKGROUND_TONES = { good: 'good', notice: 'warn', unknown: 'unknown' } as const

function Background({ facts, isGreen = false }: { facts: MailBackground[]; isGreen?: boolean }) {
  return (
    <Section title={isGreen ? messages.background : messages.sender}>
      {isGreen && (
        <p>
          <Muted>{messages.backgroundLead}</Muted>
        </p>
      )}
      <BulletList>
        {facts.map(({ id, title, state, sentence }) => (
          <li key={id}>
            <Status tone={BACKGROUND_TONES[state]}>{title}</Status> {sentence}
          </li>
        ))}
      </BulletList>
    </Section>
  )
}

function Engines({ engines }: { engines: MailEngine[] }) {
  return (
    <Section title={messages.engines}>
      {engines.map(({ engine, state, score, threshold, action, symbols, reason }) => (
        <Card key={engine}>
          <Stack>
            <p>
              <strong>{messages.engineNames[engine]}</strong>:{' '}
              {state === 'checked'
                ? `${messages.engineScore(score, threshold)}, ${action ?? ''}`
                : `${stateNames['not-checked']}. ${reason ?? ''}`}
            </p>
            {symbols.length > 0 && (
              <Disclosure summary={messages.symbols}>
                <BulletList>
                  {symbols.map(({ name, score: points, description }) => (
                    <li key={name}>
                      {points} <strong>{name}</strong> {description}
                    </li>
                  ))}
                </BulletList>
              </Disclosure>
            )}
          </Stack>
        </Card>
      ))}
    </Section>
  )
}

function Delivery({ mail }: { mail: TestMailResult }) {
  const { from, ip, helo, mailFrom, tls, bytes, origin, transcript } = mail
  return (
    <Section title={`${messages.delivery}: ${originNames[origin]}`}>
      <Facts
        facts={[
          [messages.from, from],
          [messages.ip, ip],
          [messages.helo, helo],
          [messages.envelope, mailFrom === '' ? messages.bounce : mailFrom],
          [messages.tls, origin === 'smtp' ? (tls ?? messages.noTls) : null],
          [messages.size, messages.sizeOf(bytes)],
        ]}
      />
      {transcript !== null && transcript.length > 0 && (
        <Disclosure summary={messages.session}>
          <Session lines={transcript} />
        </Disclosure>
      )}
    </Section>
  )
}
