import { Link } from '@tanstack/react-router'
import { Ago } from '../ui/text/ago.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import classes from './alert-item.module.css'
import { AlertTitle } from './alert-title.tsx'
import type { Alert, Delivery } from './api.ts'
import { SILENCED_NAMES } from './incidents/messages.ts'
import { deliveryState, kindOf, list as messages } from './messages.ts'

export function AlertList({ alerts }: { alerts: Alert[] }) {
  return (
    <ul className={classes.list} aria-label={messages.alerts} data-rows>
      {alerts.map((alert) => (
        <AlertItem key={alert.id} alert={alert} />
      ))}
    </ul>
  )
}

/** An alert with its next step and its deliveries. */
function AlertItem({ alert }: { alert: Alert }) {
  const { kind, text, nextStep, at, deliveries, silenced } = alert
  const topic = kindOf(kind)
  return (
    <li className={classes.alert}>
      <div className={classes.head}>
        <h2>
          <AlertTitle alert={alert} />
        </h2>
        <Muted>
          {topic ? <Link to={topic.to}>{topic.name}</Link> : kind} · <Ago at={at} />
        </Muted>
      </div>
      <p className={classes.text}>{text}</p>
      {nextStep && <p>{nextStep}</p>}
      <ul className={classes.deliveries}>
        {silenced && (
          <li>
            <Status tone="unknown">{SILENCED_NAMES[silenced]}</Status>
          </li>
        )}
        {deliveries.map((delivery, index) => (
          // An escalation sends an alert to a channel again.
          <DeliveryItem key={index} delivery={delivery} />
        ))}
      </ul>
    </li>
  )
}

function DeliveryItem({ delivery }: { delivery: Delivery }) {
  const { channel, channelId, at, error } = delivery
  const { tone, word } = deliveryState(delivery)
  return (
    <li>
      <Status tone={tone}>{word}</Status>
      <Muted>
        {channelId === null ? messages.deletedChannel(channel) : channel}
        {at && (
          <>
            , <Ago at={at} />
          </>
        )}
        {error && `: ${error}`}
      </Muted>
    </li>
  )
}
