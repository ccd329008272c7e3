import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;

/** The controller of docs/grade.md in Spring's own dispatcher, behind the HTTP server of the JDK. */
final class Driver {
    public static void main(String[] args) throws Exception {
        URI url = URI.create(System.getenv("DATABASE_URL"));
        String[] user = url.getUserInfo().split(":");
        JdbcTemplate db = new JdbcTemplate(new DriverManagerDataSource(
            "jdbc:postgresql://" + url.getAuthority().replace(url.getUserInfo() + "@", "") + url.getPath(), user[0], user[1]));
        MockMvc mvc = MockMvcBuilders.standaloneSetup(new Webhooks(db, System.getenv("CAURI_WEBHOOK_SECRET"))).build();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
        server.createContext("/", exchange -> {
            MockHttpServletRequestBuilder request = MockMvcRequestBuilders.post(exchange.getRequestURI());
            request.content(exchange.getRequestBody().readAllBytes());
            exchange.getRequestHeaders().forEach((name, values) -> request.header(name, values.toArray()));
            int status = 500;
            try {
                status = mvc.perform(request).andReturn().getResponse().getStatus();
            } catch (Exception e) {
                e.printStackTrace();
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
