import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Ago } from '../ui/text/ago.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Facts, Values } from '../ui/lists/facts.tsx'
import { DateText, ExactTime } from '../ui/text/date-text.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import { Table } from '../ui/lists/table.tsx'
import type { HostDetail } from './api.ts'
import { certificateState, details } from './messages.ts'

/** Certificates of a host by port. */
export function Certificates({ host: { certificates } }: { host: HostDetail }) {
  return (
    <Table caption={details.certificates.caption} quiet columns={details.certificates.columns}>
      {certificates.map(({ port, state, daysRemaining, validTo, issuer, names }) => {
        const { tone, word } = certificateState(state)
        return (
          <tr key={port}>
            <th scope="row">{details.certificates.port(port)}</th>
            <td>
              <Status tone={tone}>{word}</Status>
            </td>
            <td>
              <DateText at={validTo} />
              <small>{details.certificates.daysLeft(daysRemaining)}</small>
            </td>
            <td>
              {issuer || <Muted>{details.certificates.noIssuer}</Muted>}
              <small>{details.certificates.names(names)}</small>
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

/** Published DNS records, then the types that are absent. */
export function Records({ host: { records } }: { host: HostDetail }) {
  const there = records.filter(({ values }) => values.length > 0)
  const absent = records.filter(({ values }) => values.length === 0)
  return (
    <>
      {there.length > 0 && (
        <Table caption={details.records.caption} quiet columns={details.records.columns}>
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
      {absent.length > 0 && <Muted>{details.records.absent(absent)}</Muted>}
    </>
  )
}

/** Checked addresses and the blocklists without a usable answer. */
export function Addresses({ host: { addresses, lastCheckAt } }: { host: HostDetail }) {
  return (
    <Facts
      facts={[
        ...addresses.map(({ ip, unknownLists }): [string, ReactNode] => [
          ip,
          <>
            {unknownLists.length === 0 ? (
              details.addresses.allAnswered
            ) : (
              <Disclosure summary={details.addresses.unanswered(unknownLists.length)}>
                <Values values={unknownLists} />
              </Disclosure>
            )}{' '}
            <Link to="/addresses/$ip" params={{ ip }}>
              {details.addresses.all}
            </Link>
          </>,
        ]),
        [details.addresses.lastCheck, lastCheckAt && <ExactTime key="last" at={lastCheckAt} />],
      ]}
    />
  )
}
