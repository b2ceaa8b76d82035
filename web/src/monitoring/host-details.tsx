import type { ReactNode } from 'react'
import { Ago, ExactTime } from '../ui/text/ago.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts, Values } from '../ui/lists/facts.tsx'
import { DateText } from '../ui/text/date-text.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import { counted } from '../ui/text/format.ts'
import type { HostDetail } from './api.ts'
import { certificateState } from './messages.ts'

/** Port by port. */
export function Certificates({ host: { certificates } }: { host: HostDetail }) {
  return (
    <Table caption="Certificates" quiet columns={['Port', 'State', 'Valid until', 'Issued by']}>
      {certificates.map(({ port, state, daysRemaining, validTo, issuer, names }) => {
        const { tone, word } = certificateState(state)
        return (
          <tr key={port}>
            <th scope="row">Port {port}</th>
            <td>
              <Status tone={tone}>{word}</Status>
            </td>
            <td>
              <DateText at={validTo} />
              <small>{daysRemaining < 0 ? 'over' : counted(daysRemaining, 'more day')}</small>
            </td>
            <td>
              {issuer || <Muted>nobody</Muted>}
              <small>for {names.slice(0, 3).join(', ') || 'no name'}</small>
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

/** What the DNS says, and what it says nothing of. */
export function Records({ host: { records } }: { host: HostDetail }) {
  const there = records.filter(({ values }) => values.length > 0)
  const absent = records.filter(({ values }) => values.length === 0)
  return (
    <>
      {there.length > 0 && (
        <Table caption="DNS records" quiet columns={['Record', 'Values', 'Since']}>
          {there.map(({ name, type, values, since }) => (
            <tr key={`${name} ${type}`}>
              <th scope="row">
                {type}
                <small>{name}</small>
              </th>
              <td>
                <Values values={values} />
              </td>
              <td>
                <Muted>
                  <Ago at={since} />
                </Muted>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {absent.length > 0 && (
        <Muted>Watched, and not there: {absent.map(({ name, type }) => `${type} of ${name}`).join(', ')}.</Muted>
      )}
    </>
  )
}

/** What blacklists are asked about, and which of them could not tell. */
export function Addresses({ host: { addresses, lastCheckAt } }: { host: HostDetail }) {
  return (
    <Facts
      facts={[
        ...addresses.map(({ ip, unknownLists }): [string, ReactNode] => [
          ip,
          unknownLists.length === 0 ? (
            'Every blacklist answered.'
          ) : (
            <Disclosure key={ip} summary={`${counted(unknownLists.length, 'blacklist')} gave no usable answer`}>
              <Values values={unknownLists} />
            </Disclosure>
          ),
        ]),
        ['Last look', lastCheckAt && <ExactTime key="last" at={lastCheckAt} />],
      ]}
    />
  )
}
