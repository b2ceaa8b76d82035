import type { ReactNode } from 'react'
import classes from './chart-figure.module.css'
import type { Look } from './look.ts'
import { Swatch } from './swatch.tsx'

type ChartFigureProps = {
  legend: { name: string; look: Look }[]
  /** A summary in a sentence or two, which the picture refers to by this id. */
  text: ReactNode
  textId: string
  children: ReactNode
}

/** A chart with its legend and its summary as text. Place a table beside it. */
export function ChartFigure({ legend, text, textId, children }: ChartFigureProps) {
  return (
    <figure className={classes.figure}>
      {children}
      <figcaption>
        {legend.length > 0 && (
          <ul className={classes.legend}>
            {legend.map(({ name, look }) => (
              <li key={name}>
                <Swatch look={look} />
                {name}
              </li>
            ))}
          </ul>
        )}
        <p id={textId}>{text}</p>
      </figcaption>
    </figure>
  )
}
