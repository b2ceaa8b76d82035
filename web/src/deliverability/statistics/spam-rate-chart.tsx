import { useId } from 'react'
import { AXES, DayAxis, ValueAxis } from '../../ui/charts/axes.tsx'
import { ChartFigure } from '../../ui/charts/chart-figure.tsx'
import { ChartSurface } from '../../ui/charts/chart-surface.tsx'
import { Hatches, hatchOf } from '../../ui/charts/hatches.tsx'
import looks from '../../ui/charts/looks.module.css'
import { dayScale, linePath, valueScale } from '../../ui/charts/scales.ts'
import { dayAt, segmentsOf } from '../../ui/charts/series.ts'
import { utcDayText } from '../../ui/text/dates.ts'
import { numberText } from '../../ui/text/format.ts'
import type { ProviderRates, SpamRates } from './api.ts'
import { rateText, statistics as messages } from './messages.ts'
import classes from './spam-rate-chart.module.css'

const RATE_HEIGHT = 144
const BAR_HEIGHT = 40
const GAP = 26
const LIMITS = [0.001, 0.003] as const

type DayCount = { day: string; count: number }

/**
 * The spam rates at providers as lines, with DMARC failures and listed hosts as bars below. A day
 * without data is a gap in each.
 */
export function SpamRateChart({ rates }: { rates: SpamRates }) {
  const { days, providers } = rates
  const [caption, hatch] = [useId(), useId()]
  const failures = rates.dmarc.map(({ day, failures: count }) => ({ day, count }))
  const listed = rates.listings.map(({ day, listed: count }) => ({ day, count }))
  const highest = Math.max(
    LIMITS[1] * 1.15,
    ...providers.flatMap((provider) => provider.days.map(({ low, high }) => high ?? low)),
  )
  const y = valueScale(highest, RATE_HEIGHT)
  const bars = [
    { name: messages.failures, counts: failures },
    { name: messages.listings, counts: listed },
  ].filter(({ counts }) => counts.length > 0)
  const height = AXES.above + RATE_HEIGHT + bars.length * (BAR_HEIGHT + GAP) + AXES.below
  const scale = (width: number) => dayScale(days.length, width - AXES.left)
  return (
    <ChartFigure legend={[]} text={messages.chartText(rates)} textId={caption}>
      <ul className={classes.legend}>
        {providers.map(({ provider, source, name }, place) => (
          <li key={`${provider} ${source}`}>
            <svg width={22} height={12} aria-hidden="true">
              <path className={classes.line} data-place={place % 3} d="M0 6H22" />
              <Mark place={place} x={11} y={6} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      <ChartSurface
        label={messages.chart}
        height={height}
        points={days.map((day) => pointOf(rates, day))}
        hit={(x, _, width) => dayAt(x - AXES.left, days.length, width - AXES.left)}
        anchor={(index, width) => ({
          x: AXES.left + scale(width).middle(index),
          y: AXES.above + RATE_HEIGHT / 2,
        })}
      >
        {(width, active) => {
          const plot = width - AXES.left
          const x = scale(width).middle
          return (
            <svg
              width={width}
              height={height}
              role="img"
              aria-label={messages.chart}
              aria-describedby={caption}
            >
              <Hatches id={hatch} />
              <g transform={`translate(${AXES.left} ${AXES.above})`}>
                {active !== null && (
                  <rect
                    className={classes.active}
                    x={x(active) - plot / days.length / 2}
                    width={plot / days.length}
                    height={height - AXES.above - AXES.below}
                  />
                )}
                <ValueAxis
                  ticks={[0, ...LIMITS]}
                  y={y}
                  width={plot}
                  text={(tick) => `${Number((tick * 100).toFixed(1))}%`}
                />
                {LIMITS.map((limit) => (
                  <line
                    key={limit}
                    className={classes.limit}
                    x2={plot}
                    y1={y(limit)}
                    y2={y(limit)}
                  />
                ))}
                {providers.map((provider, place) => (
                  <Rates
                    key={`${provider.provider} ${provider.source}`}
                    provider={provider}
                    place={place}
                    days={days}
                    x={x}
                    y={y}
                  />
                ))}
                {bars.map(({ name, counts }, place) => (
                  <g
                    key={name}
                    transform={`translate(0 ${RATE_HEIGHT + GAP + place * (BAR_HEIGHT + GAP)})`}
                  >
                    <text y={-6}>{name}</text>
                    <Bars counts={counts} days={days} width={plot} hatch={hatch} />
                  </g>
                ))}
                <DayAxis days={days} x={x} y={height - AXES.above - AXES.below + 18} width={plot} />
              </g>
            </svg>
          )
        }}
      </ChartSurface>
    </ChartFigure>
  )
}

/** What is known of a day; what is not is named as such. */
function pointOf({ providers, dmarc, listings }: SpamRates, day: string) {
  const failing = dmarc.find((row) => row.day === day)
  const listing = listings.find((row) => row.day === day)
  return {
    title: utcDayText(day),
    values: [
      ...providers.map((provider) => ({
        name: provider.name,
        value: rateText(provider.days.find((row) => row.day === day)),
      })),
      {
        name: messages.failures,
        value: failing ? messages.failuresOf(failing.failures, failing.messages) : messages.noData,
      },
      {
        name: messages.listings,
        value: listing ? messages.listedOf(listing.listed, listing.hosts) : messages.noData,
      },
    ],
  }
}

type RatesProps = {
  provider: ProviderRates
  place: number
  days: readonly string[]
  x: (index: number) => number
  y: (rate: number) => number
}

function Rates({ provider, place, days, x, y }: RatesProps) {
  const byDay = new Map(provider.days.map((row) => [row.day, row]))
  const known = days.map((day) => byDay.get(day) ?? null)
  const top = (index: number) => known[index]?.high ?? known[index]?.low ?? 0
  return segmentsOf(known.map((row) => row && row.low)).map((segment) => (
    <g key={segment[0]}>
      <path
        className={classes.line}
        data-place={place % 3}
        d={linePath(segment.map((index) => [x(index), y(top(index))]))}
      />
      {segment.map((index) => (
        <g key={index}>
          {(known[index]?.low ?? 0) < top(index) && (
            <line
              className={classes.range}
              x1={x(index)}
              x2={x(index)}
              y1={y(known[index]?.low ?? 0)}
              y2={y(top(index))}
            />
          )}
          <Mark place={place} x={x(index)} y={y(top(index))} />
        </g>
      ))}
    </g>
  ))
}

/** Each provider has a shape of its own, so that it can be distinguished without colour. */
function Mark({ place, x, y }: { place: number; x: number; y: number }) {
  const shape = place % 3
  const shared = { className: classes.mark, 'data-place': shape }
  if (shape === 0) return <circle {...shared} cx={x} cy={y} r={3.5} />
  if (shape === 1) return <rect {...shared} x={x - 3} y={y - 3} width={6} height={6} />
  return <path {...shared} d={`M${x} ${y - 4}l4 7h-8z`} />
}

type BarsProps = { counts: DayCount[]; days: readonly string[]; width: number; hatch: string }

function Bars({ counts, days, width, hatch }: BarsProps) {
  const x = dayScale(days.length, width)
  const highest = Math.max(1, ...counts.map(({ count }) => count))
  const y = valueScale(highest, BAR_HEIGHT)
  return (
    <>
      <ValueAxis ticks={[0, highest]} y={y} width={width} text={numberText} />
      {counts.map(({ day, count }) => (
        <rect
          key={day}
          className={looks[count === 0 ? 'good' : 'bad']}
          fill={count === 0 ? undefined : hatchOf('bad', hatch)}
          x={x.left(days.indexOf(day))}
          width={x.band}
          y={Math.min(y(count), BAR_HEIGHT - 2)}
          height={Math.max(2, BAR_HEIGHT - y(count))}
        />
      ))}
    </>
  )
}
