// The parts of Apache ECharts that the report draws with. How to build echarts.min.js from it: README.md.
import * as core from "echarts/core";
import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent } from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";

core.use([BarChart, CustomChart, LineChart, ScatterChart, DataZoomInsideComponent, GridComponent, CanvasRenderer, SVGRenderer]);
globalThis.echarts = { init: core.init, version: core.version };
