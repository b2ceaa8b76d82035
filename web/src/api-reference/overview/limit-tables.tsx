import { numberText } from '../../ui/text/format.ts'
import { placeHref } from '../location.ts'
import { overview as messages } from '../messages.ts'
import { ACCOUNT_LIMITS, ADDRESS_LIMITS, rateText, type Limit } from './limits.ts'
import classes from './limit-tables.module.css'

/** The limits of accounts and of addresses, with links to the operations that count. */
export function LimitTables() {
  return (
    <>
      <LimitTable caption={messages.accountLimits} limits={ACCOUNT_LIMITS} />
      <LimitTable caption={messages.addressLimits} limits={ADDRESS_LIMITS} />
      <p className={classes.note}>{messages.addressNote}</p>
    </>
  )
}

function LimitTable({ caption, limits }: { caption: string; limits: Limit[] }) {
  const [name, rate, atOnce] = messages.limitColumns
  return (
    <table className={classes.limits}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col">{rate}</th>
          <th scope="col">{atOnce}</th>
        </tr>
      </thead>
      <tbody>
        {limits.map((limit) => (
          <LimitRow key={limit.name} limit={limit} />
        ))}
      </tbody>
    </table>
  )
}

function LimitRow({ limit }: { limit: Limit }) {
  return (
    <tr>
      <th scope="row">
        <span className={classes.name}>{limit.name}</span>
        <ul>
          {limit.operations.map((id) => (
            <li key={id}>
              <a href={placeHref(id)}>
                <code>{id}</code>
              </a>
            </li>
          ))}
        </ul>
      </th>
      <td>{rateText(limit) ?? messages.noRate}</td>
      <td>{limit.atOnce === undefined ? messages.noRate : numberText(limit.atOnce)}</td>
    </tr>
  )
}
