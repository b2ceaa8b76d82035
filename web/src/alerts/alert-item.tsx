import { Link } from '@tanstack/react-router'
import { Ago } from '../ui/text/ago.tsx'
import { Muted } from '../ui/layout/page.tsx'
import { Status } from '../ui/feedback/status.tsx'
import classes from './alert-item.module.css'
import { AlertTitle } from './alert-title.tsx'
import type { Alert, Channel } from './api.ts'
import { SILENCED_NAMES } from './incidents/messages.ts'
import { deliveryState, kindOf, list as messages } from './messages.ts'
import { targetOf } from './targets.ts'

type AlertsProps = { alerts: Alert[]; channels: Channel[] }

export function AlertList({ alerts, channels }: AlertsProps) {
  return (
    <ul className={classes.list} aria-label={messages.title} data-rows>
      {alerts.map((alert) => (
        <AlertItem key={alert.id} alert={alert} channels={channels} />
      ))}
    </ul>
  )
}

/** An alert with its next step and its deliveries. */
function AlertItem({ alert, channels }: { alert: Alert; channels: Channel[] }) {
  const { kind, text, nextStep, at, deliveries, silenced } = alert
  const topic = kindOf(kind)
  return (
    <li className={classes.alert}>
      <div className={classes.head}>
        <h3>
          <AlertTitle alert={alert} />
        </h3>
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
        {deliveries.map((delivery) => {
          const { tone, word } = deliveryState(delivery)
          const channel = channels.find(({ id }) => id === delivery.channelId)
          return (
            <li key={delivery.channelId}>
              <Status tone={tone}>{word}</Status>
              <Muted>
                {channel
                  ? targetOf(channel)
                  : delivery.type === 'email'
                    ? messages.byEmail
                    : messages.byWebhook}
                {delivery.at && (
                  <>
                    , <Ago at={delivery.at} />
                  </>
                )}
                {delivery.error && `: ${delivery.error}`}
              </Muted>
            </li>
          )
        })}
      </ul>
    </li>
  )
}
